package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestEtcdRestoredFromABackup has the scheduler bind a pod, and then puts the store back to before that. The scheduler must notice, say so and end; the
// process that is started in its place must know nothing of what has not been. The control plane is this test's alone, and has no judge: a
// history that goes back is none.
func TestEtcdRestoredFromABackup(t *testing.T) {
	// With a lease that outlasts the time that the API server is away for.
	etcdIsRestored(t, "--leader-elect=true", "--leader-elect-lease-duration=180s", "--leader-elect-renew-deadline=120s")
}

// TestEtcdRestoredWithoutLeaderElection is the same with a scheduler that elects no leader, and so has no lease that it leads by.
func TestEtcdRestoredWithoutLeaderElection(t *testing.T) { etcdIsRestored(t, "--leader-elect=false") }

func etcdIsRestored(t *testing.T, args ...string) {
	if !isGPUScheduler() {
		t.Skip("another scheduler has another lease")
	}
	t.Parallel()
	r := newRestorable(t)
	r.args = args
	node := fixture.GPUNode("only", fixture.H100, 1)
	r.must(r.cluster.Client().CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}))
	r.addPod("first")
	r.backUp()

	lost := r.start("lost")
	until(t, "the first pod to be bound", func() bool { return r.nodeOf("first") == "only" })
	r.restore()
	if on := r.nodeOf("first"); on != "" {
		t.Fatalf("the store was put back, and the first pod is on %q", on)
	}
	select {
	case <-lost.Done():
	case <-time.After(waitLimit):
		t.Fatalf("the scheduler did not end; its log is %s", lost.Log)
	}
	if code := controlplane.ExitCode(lost.Wait()); code != exitLost {
		t.Errorf("exit code %d, want %d", code, exitLost)
	}
	log, err := os.ReadFile(lost.Log)
	r.must(nil, err)
	if !strings.Contains(string(log), "its store has gone back in time") {
		t.Errorf("the log does not say why: %s", log)
	}

	again := r.start("again")
	until(t, "the first pod to be bound again", func() bool { return r.nodeOf("first") == "only" })
	if err := again.Stop(); err != nil {
		t.Error(err)
	}
}

// restorable is a control plane with a store that can be restored, and with a lease that was given back: with a new lease the earlier leader is
// unknown, and a takeover takes time.
type restorable struct {
	t       *testing.T
	cluster *controlplane.ControlPlane
	as      string // the scheduler's kubeconfig
	args    []string
}

func newRestorable(t *testing.T) *restorable {
	t.Helper()
	cluster, err := controlplane.Start(t.Context(), controlplane.Options{Dir: filepath.Join(planes.dir, "plane-"+t.Name())})
	if err != nil {
		t.Fatal(err)
	}
	r := &restorable{t: t, cluster: cluster}
	t.Cleanup(func() { r.must(nil, cluster.Stop()) })
	who, err := schedulerIdentity(cluster)
	r.must(nil, err)
	r.as, err = cluster.KubeconfigFor(who)
	r.must(nil, err)
	nobody, second, now := "", int32(1), metav1.NowMicro()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: leaseName},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &nobody, LeaseDurationSeconds: &second, RenewTime: &now},
	}
	r.must(cluster.Client().CoordinationV1().Leases(leaseName).Create(t.Context(), lease, metav1.CreateOptions{}))
	r.must(cluster.Client().CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ml"}}, metav1.CreateOptions{}))
	return r
}

func (r *restorable) must(_ any, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *restorable) addPod(name string) {
	r.t.Helper()
	pod := fixture.Pod("ml", name, schedulerName, fixture.GPUs(1))
	r.must(r.cluster.Client().CoreV1().Pods("ml").Create(r.t.Context(), pod, metav1.CreateOptions{}))
}

func (r *restorable) nodeOf(pod string) string {
	got, err := r.cluster.Client().CoreV1().Pods("ml").Get(r.t.Context(), pod, metav1.GetOptions{})
	if err != nil {
		return "" // the API server is away for a moment
	}
	return got.Spec.NodeName
}

func (r *restorable) store() string  { return filepath.Join(r.cluster.Dir(), "etcd") }
func (r *restorable) backup() string { return filepath.Join(r.cluster.Dir(), "backup") }

// backUp copies the store while nothing writes to it.
func (r *restorable) backUp() {
	r.t.Helper()
	r.whileStopped(func() { r.must(nil, os.CopyFS(r.backup(), os.DirFS(r.store()))) })
}

// restore puts the store back.
func (r *restorable) restore() {
	r.t.Helper()
	r.whileStopped(func() {
		r.must(nil, os.RemoveAll(r.store()))
		r.must(nil, os.Rename(r.backup(), r.store()))
	})
}

func (r *restorable) whileStopped(do func()) {
	r.t.Helper()
	r.must(nil, r.cluster.StopAPIServer())
	r.must(nil, r.cluster.EtcdProcess(0).Stop())
	do()
	r.must(nil, r.cluster.StartEtcd(r.t.Context(), 0))
	r.must(nil, r.cluster.StartAPIServer(r.t.Context()))
}

func (r *restorable) start(name string) *controlplane.Process {
	r.t.Helper()
	program := os.Getenv("GPU_SCHEDULER_BIN")
	if program == "" {
		program = filepath.Join(root, "build/release/bin/gpu-scheduler")
	}
	args := append([]string{"--kubeconfig", r.as, "--http-bind-address=127.0.0.1:0", "--secure-port=0"}, r.args...)
	process, err := r.cluster.StartChild("scheduler-"+name, nil, program, args...)
	r.must(nil, err)
	return process
}

// TestStartsAtOnceAfterACleanEnd: without leader election, a start waits until no bind of the process before can be carried out any more; not after one that
// has ended well, and said so.
func TestStartsAtOnceAfterACleanEnd(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("another scheduler has no such mark")
	}
	const settled = "the scheduler before has settled its binds"
	w := newWorld(t)
	w.addGPUNodes(1)
	start := func(name string) *replica {
		t.Helper()
		r := &replica{newSubject(t, "-"+name)}
		r.start()
		t.Cleanup(r.stop)
		r.waitLog("scheduling begins")
		w.addPod(name, fixture.GPUs(1))
		w.waitPod(name, "bound", bound)
		return r
	}
	first := start("first")
	leases, versions := w.cluster.Client().CoordinationV1().Leases(leaseName), map[string]bool{}
	until(t, "the mark to be written three times", func() bool { // it has been alone then
		mark, err := leases.Get(t.Context(), leaseName+"-store", metav1.GetOptions{})
		w.must(mark, err)
		versions[mark.ResourceVersion] = true
		return len(versions) > 3
	})
	first.stop()
	second := start("second")
	second.waitLog(settled)
	second.kill()
	if third := start("third"); strings.Contains(third.log(), settled) {
		t.Error("a process that was killed has settled nothing")
	}
	w.verdict()
}
