package e2e

import (
	"fmt"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

// TestAPIServerGoesAway stops the API server under a load, once politely and once not, and starts it again.
func TestAPIServerGoesAway(t *testing.T) {
	w := newWorld(t)
	nodes := max(4, sizes.pods/20)
	w.addGPUNodes(nodes)
	s := startSubject(t)
	load := w.startLoad(sizes.pods, int64(nodes)*8)

	w.waitBinds(sizes.pods / 4)
	w.must(nil, cluster.StopAPIServer())
	w.must(nil, cluster.StartAPIServer(t.Context()))
	w.waitBinds(sizes.pods / 2)
	cluster.KillAPIServer()
	w.must(nil, cluster.StartAPIServer(t.Context()))
	load.wait()
	s.check()
	w.expectAllBound(w.verdict())
}

// TestPastIsForgotten lets everything change while the scheduler looks away, and the past be compacted away, so that every watch it
// resumes is told 410 Gone. It has to notice by listing what was deleted, added and changed meanwhile.
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

	s.pause()
	for i := range 24 {
		w.deletePod(fmt.Sprintf("old-%d", i))
	}
	w.must(nil, w.client.CoreV1().Nodes().Delete(t.Context(), w.ns+"-0", noGrace()))
	w.changeNode(w.ns+"-1", func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, fixture.GPUTaint) })
	w.addPod("fills-the-only-node-left", fixture.GPUs(7))
	_, err := cluster.Expire(t.Context())
	w.must(nil, err)
	s.resume()

	for _, name := range []string{"waiting", "fills-the-only-node-left"} {
		if p := w.waitPod(name, "bound", bound); p.Spec.NodeName != w.ns+"-2" {
			t.Errorf("%s is on %q", name, p.Spec.NodeName)
		}
	}
	w.addPod("too-many", fixture.GPUs(1))
	w.waitRefused("too-many", "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint(s).")
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
		_, err := cluster.Compact(t.Context())
		w.must(nil, err)
		_, err = cluster.Expire(t.Context())
		w.must(nil, err)
	}
	load.wait()
	s.check()
	w.expectAllBound(w.verdict())
}
