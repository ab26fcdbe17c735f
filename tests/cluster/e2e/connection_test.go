package e2e

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"
)

// bindThrough makes pods in waves and kills the scheduler between them; all are bound, and the history is clean.
func (w *world) bindThrough(s *subject, pods, kills int) {
	w.t.Helper()
	for wave := range kills + 1 {
		if wave > 0 {
			s.kill()
			s.start()
		}
		w.parallel(pods, func(i int) { w.addPod(fmt.Sprintf("pod-%d-%d", wave, i), fixture.GPUs(1)) })
		w.waitBinds(pods * (wave + 1) * 9 / 10) // the next kill comes while some are on their way
	}
	w.waitBinds(pods * (kills + 1))
	w.verdict()
}

// TestTransportOnCpprestsdk binds over the second transport, through a kill.
func TestTransportOnCpprestsdk(t *testing.T) {
	if os.Getenv("GPU_SCHEDULER_IDENTITY") != "" {
		t.Skip("the field is gpu-scheduler's own")
	}
	w := newWorld(t)
	w.addGPUNodes(10)
	s := startSubject(t, func(with *setup) {
		with.config = strings.Replace(with.config, "clientConnection:\n", "clientConnection:\n  transport: cpprest\n", 1)
	})
	w.bindThrough(s, 40, 1)
	// Of a pod of the second wave: what the first process had not told yet when it was killed, nobody tells.
	if e := w.waitEvent("pod-1-0", "Scheduled"); !strings.HasPrefix(e.Note, "Successfully assigned") {
		t.Errorf("Scheduled event: %q", e.Note)
	}
}

// TestCredentialPlugin binds with certificates from a credential plugin, which expire every few seconds.
func TestCredentialPlugin(t *testing.T) {
	who, err := lent(t).identity()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.addGPUNodes(10)
	kubeconfig, runs, err := w.cluster.ExecKubeconfig(who, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	startSubject(t, func(with *setup) { with.kubeconfig = kubeconfig })
	count := func() int {
		content, _ := os.ReadFile(runs)
		return bytes.Count(content, []byte("\n"))
	}
	// A pod at a time, until the certificate has been renewed twice.
	for i := 0; count() < 3 && !t.Failed(); i++ {
		name := fmt.Sprintf("pod-%d", i)
		w.addPod(name, fixture.GPUs(1))
		w.waitPod(name, "bound", bound)
		w.deletePod(name)
	}
	w.verdict()
	t.Logf("the plugin was run %d times", count())
}
