package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/internal/naivescheduler"

	corev1 "k8s.io/api/core/v1"
)

// These tests are of the harness: a scheduler that is right must pass, and one that is wrong on purpose must be caught. They
// need no scheduler program.

func TestHarnessPassesAnHonestScheduler(t *testing.T) {
	w := newWorld(t)
	w.addGPUNodes(2)
	w.addPods(naiveName, 20)
	w.runNaive(naivescheduler.Options{Name: naiveName})
	w.waitBinds(16)
	report := w.verdict()
	if report.Pending != 4 {
		t.Errorf("20 pods on 16 GPUs: want 4 pending, got %d", report.Pending)
	}
	w.deletePod("pod-0") // whether bound or not, room or one pod fewer
	w.verdict()
}

func TestHarnessCatchesACarelessScheduler(t *testing.T) {
	w := newWorld(t)
	w.addGPUNodes(2)
	w.addPods(naiveName, 20)
	w.runNaive(naivescheduler.Options{Name: naiveName, Careless: true})
	w.waitBinds(20)
	err := w.recorder.Report(w.ns).Err()
	if err == nil || !strings.Contains(err.Error(), "nvidia.com/gpu: 9 taken of 8") {
		t.Fatalf("a scheduler that gives GPUs twice was not caught: %v", err)
	}
	t.Logf("caught, as it must be: %v", err)
}

func TestHarnessCatchesALostPod(t *testing.T) {
	w := newWorld(t)
	w.addPodOf(naiveName, "nobody-cares", fixture.GPUs(1))
	w.catchUp()
	if err := w.recorder.Report(w.ns).Err(); err == nil || !strings.Contains(err.Error(), "lost: "+w.ns+"/nobody-cares") {
		t.Fatalf("a pod that nobody schedules was not reported: %v", err)
	}
}

func (w *world) addPods(scheduler string, count int) {
	w.t.Helper()
	for i := range count {
		w.addPodOf(scheduler, fmt.Sprintf("pod-%d", i), fixture.GPUs(1))
	}
}

// runNaive runs the stand-in until the test ends.
func (w *world) runNaive(options naivescheduler.Options) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error)
	go func() { done <- naivescheduler.Run(ctx, w.client, options) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
}

func bound(p *corev1.Pod) bool { return p.Spec.NodeName != "" }
