package history_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOnARealControlPlane shows, on one control plane, that the recorder sees every bind through restarts and compaction, that two pods
// on one GPU are found out, and that a recorder that comes too late says so.
func TestOnARealControlPlane(t *testing.T) {
	cluster, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	recorder := history.Record(cluster.Etcd(), history.Options{Schedulers: []string{"gpu-scheduler"}})
	defer recorder.Close()
	cluster.BeforeCompact = recorder.Wait
	create(t, cluster, fixture.GPUNode("n", fixture.H100, 1))

	bindNewPod(t, cluster, "first")
	report := reportNow(t, cluster, recorder)
	if err := report.Err(); err != nil || report.Binds != 1 {
		t.Fatalf("after one bind: %d binds, %v", report.Binds, err)
	}

	if _, err := cluster.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	cluster.KillAPIServer()
	if err := cluster.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	bindNewPod(t, cluster, "second")
	report = reportNow(t, cluster, recorder)
	if report.Gap != "" || report.Binds != 2 || report.PodsSeen != 2 {
		t.Fatalf("through compaction and restarts:\n%s", report)
	}
	if err := report.Err(); err == nil || !strings.Contains(err.Error(), "nvidia.com/gpu: 2 taken of 1") {
		t.Fatalf("two pods on one GPU: want the over-commit found, got %v", err)
	}
	t.Logf("two pods on one GPU, as it must be, gives: %v", report.Err())

	late := history.Record(cluster.Etcd(), history.Options{})
	defer late.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := late.Wait(ctx, 1<<62); err == nil || late.Report().Gap == "" {
		t.Fatalf("a recorder that starts after a compaction: want a gap, got %v\n%s", err, late.Report())
	}
}

func create(t *testing.T, c *controlplane.ControlPlane, n *corev1.Node) {
	t.Helper()
	if _, err := c.Client().CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// bindNewPod does what a scheduler does, without thinking.
func bindNewPod(t *testing.T, c *controlplane.ControlPlane, name string) {
	t.Helper()
	pods := c.Client().CoreV1().Pods("default")
	pod, err := pods.Create(t.Context(), fixture.Pod("default", name, "gpu-scheduler", fixture.GPUs(1)), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "n"},
	}
	if err := pods.Bind(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func reportNow(t *testing.T, c *controlplane.ControlPlane, r *history.Recorder) history.Report {
	t.Helper()
	revision, err := c.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	return r.Report()
}
