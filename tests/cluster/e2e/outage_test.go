package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"
)

// TestAPIServerGoesAway stops the API server under a load, once politely and once not, and starts it again.
func TestAPIServerGoesAway(t *testing.T) {
	w := newWorld(t)
	nodes := max(4, sizes.pods/20)
	w.addGPUNodes(nodes)
	s := startSubject(t)
	load := w.startLoad(sizes.pods, int64(nodes)*8)

	w.waitBinds(sizes.pods / 4)
	w.must(nil, w.cluster.StopAPIServer())
	w.must(nil, w.cluster.StartAPIServer(t.Context()))
	w.waitBinds(sizes.pods / 2)
	w.cluster.KillAPIServer()
	w.must(nil, w.cluster.StartAPIServer(t.Context()))
	load.wait()
	s.check()
	w.expectAllBound(w.verdict())
}

// TestEndsBeforeItHasBegun ends the scheduler as soon as it heeds the signal, at whatever it is then on its way to its first decision.
func TestEndsBeforeItHasBegun(t *testing.T) {
	s := newSubject(t, "")
	for range 5 {
		s.start()
		s.stop()
		// That it has ended by itself before the signal is no success.
		if code := controlplane.ExitCode(s.process.Wait()); code != 0 && isGPUScheduler() {
			t.Errorf("exit code %d, want 0; its log is %s", code, s.keepLog())
		}
	}
}

// TestPastIsForgotten changes the cluster behind the API server's back while it is away, and compacts the past away, so that
// every watch the scheduler resumes is told 410 Gone and only a new list can tell what happened: a node was deleted, and the pods on
// another one.
func TestPastIsForgotten(t *testing.T) {
	w := newWorld(t)
	w.addGPUNodes(3)
	s := startSubject(t)
	for i := range 24 {
		w.addPod(fmt.Sprintf("old-%d", i), fixture.GPUs(1))
	}
	w.waitBinds(24)
	w.addPod("waiting", fixture.GPUs(1))
	w.waitRefused("waiting", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")

	freed := w.ns + "-2"
	gone := []string{"/registry/minions/" + w.ns + "-0"}
	for _, pod := range w.podsOn(freed) {
		gone = append(gone, "/registry/pods/"+w.ns+"/"+pod)
	}
	w.must(nil, w.cluster.StopAPIServer())
	for _, key := range gone {
		w.must(w.cluster.Etcd().Delete(t.Context(), key))
	}
	w.must(w.cluster.Compact(t.Context()))
	w.must(nil, w.cluster.StartAPIServer(t.Context()))

	w.addPod("fills-it", fixture.GPUs(7))
	for _, name := range []string{"waiting", "fills-it"} {
		if p := w.waitPod(name, "bound", bound); p.Spec.NodeName != freed {
			t.Errorf("%s is on %q", name, p.Spec.NodeName)
		}
	}
	w.addNode(fixture.GPUNode(w.ns+"-3", fixture.L4, 1))
	w.addPod("on-the-new-node", fixture.GPUs(1))
	w.waitPod("on-the-new-node", "bound", bound) // so the nodes have been listed anew: the deleted one counts no more
	w.addPod("too-many", fixture.GPUs(1))
	w.waitRefused("too-many", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")
	w.deletePod("waiting") // and watches go on after the list
	w.waitPod("too-many", "bound", bound)
	s.check()
	w.verdict()
}

// TestPastIsForgottenUnderLoad compacts and expires in the middle of a load.
func TestPastIsForgottenUnderLoad(t *testing.T) {
	w := newWorld(t)
	nodes := max(4, sizes.pods/20)
	w.addGPUNodes(nodes)
	s := startSubject(t)
	load := w.startLoad(sizes.pods, int64(nodes)*8)
	for _, part := range []int{5, 3} {
		w.waitBinds(sizes.pods / part)
		w.must(w.cluster.Compact(t.Context()))
		w.must(w.cluster.Expire(t.Context()))
	}
	load.wait()
	s.check()
	w.expectAllBound(w.verdict())
}

// TestRecordingCannotBeWritten: the reader of the recording goes away; that is reported once, and nothing else changes.
func TestRecordingCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	w.addGPUNodes(1)
	pipe := filepath.Join(t.TempDir(), "recording")
	w.must(nil, syscall.Mkfifo(pipe, 0o600))
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	w.must(nil, err)
	s := newSubject(t, "")
	s.args = append(s.args, "--record", pipe)
	s.start()
	t.Cleanup(s.end)
	w.addPod("before", fixture.GPUs(1))
	w.waitPod("before", "bound", bound)
	w.must(nil, reader.Close())
	w.addPod("after", fixture.GPUs(1))
	w.waitPod("after", "bound", bound)
	const ended = "the recording ends here: it cannot be written"
	until(t, "word that "+ended, func() bool { return len(s.logLines(ended)) > 0 })
	w.addPod("later", fixture.GPUs(1))
	w.waitPod("later", "bound", bound)
	if lines := s.logLines(ended); len(lines) != 1 {
		t.Errorf("it is told %d times that the recording ended: %q", len(lines), lines)
	}
	s.check()
	w.verdict()
}
