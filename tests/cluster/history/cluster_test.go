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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOnARealControlPlane shows, on one control plane, that the recorder sees every bind through restarts and compaction, that two pods
// on one GPU are found out, and a pod that is bound once more, and that a recorder that comes too late says so.
func TestOnARealControlPlane(t *testing.T) {
	cluster, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir(), AuditBinds: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	recorder := history.Record(cluster.Etcd(), history.Options{Schedulers: []string{"gpu-scheduler"}, Attempts: cluster.AuditLog()})
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

	bindElsewhere(t, cluster, "second", "m")
	waitDoubled(t, recorder)

	late := history.Record(cluster.Etcd(), history.Options{})
	defer late.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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

// bindElsewhere binds a pod that is bound, as a scheduler does that does not know where its own pods are. The API server refuses it.
func bindElsewhere(t *testing.T, c *controlplane.ControlPlane, name, node string) {
	t.Helper()
	pods := c.Client().CoreV1().Pods("default")
	pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	if err := pods.Bind(t.Context(), binding, metav1.CreateOptions{}); !apierrors.IsConflict(err) {
		t.Fatalf("a second bind: want 409, got %v", err)
	}
}

// waitDoubled waits until the one attempt of the wrong bind is seen: its line is written about when it is answered.
func waitDoubled(t *testing.T, r *history.Recorder) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		report := r.Report()
		if report.Doubled == 1 && report.Attempts == 3 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("of 3 attempts one was of a pod that was bound elsewhere; the report:\n%s", report)
		}
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
