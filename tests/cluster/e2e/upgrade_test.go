package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"
)

// These tests run another version beside the one under test: GPU_SCHEDULER_OTHER is the folder of its repository, with its manifests, and its programs in
// build/release/bin. Without it they are skipped; `make upgrade BASE=COMMIT` sets it.

// other is that folder.
func other(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("GPU_SCHEDULER_OTHER")
	if folder == "" {
		t.Skip("GPU_SCHEDULER_OTHER names no other version")
	}
	return folder
}

// startOther starts a replica of the other version.
func (e *election) startOther() *replica {
	e.w.t.Helper()
	return e.startProgram(filepath.Join(other(e.w.t), "build/release/bin/gpu-scheduler"), nil)
}

// TestUpgradeAndRollBack has both versions as replicas of one Deployment, under a load of three teams that borrow from each other. The other version leads; the new
// one takes over as at an upgrade, gives back as at a rollback, and takes over once more when the other one is killed. Each knows from the cluster what the one before
// it did: no GPU is given twice, no quota is exceeded, no pod is lost.
func TestUpgradeAndRollBack(t *testing.T) {
	other(t)
	e := newElection(t)
	replaces := func(next, last *replica, end syscall.Signal) {
		t.Helper()
		next.waitLog("standing by")
		next.waitLog("synced")
		last.process.Signal(end)
		if end == syscall.SIGTERM {
			last.waitExit(0)
		}
		next.waitLog("scheduling begins")
	}
	old := e.startOther()
	old.waitLog("scheduling begins")
	pods := sizes.quotaPods
	teams, load, _ := e.w.teamLoad(pods)
	e.w.waitBinds(pods / 5)
	upgraded := e.startReplica(nil)
	replaces(upgraded, old, syscall.SIGTERM)
	e.w.waitBinds(pods * 2 / 5)
	rolledBack := e.startOther()
	replaces(rolledBack, upgraded, syscall.SIGTERM)
	e.w.waitBinds(pods * 3 / 5)
	last := e.startReplica(nil)
	replaces(last, rolledBack, syscall.SIGKILL)
	load.wait()
	last.check()
	e.w.expectAllBound(e.w.verdict(of(teams...), explained(pods/5, history.OwnerTookBack)))
	e.w.expectOverQuotaSeen(teams)
}

// TestUpgradeKeepsWhatIsCharged: what one version has written on pods, quotas and in its ConfigMap, the other one reads. A pod without a type of its own is charged as
// the product that it runs on, and a deleted quota keeps its namespace closed.
func TestUpgradeKeepsWhatIsCharged(t *testing.T) {
	other(t)
	e := newElection(t)
	w := e.w
	w.addGPUNodes(2)
	old := e.startOther()
	w.addQuota("upgraded", w.anyType("4", nil))
	closed := w.beside(w.ns + "-closed")
	closed.addQuota("upgraded-closed", closed.anyType("1", nil))
	for _, pod := range []string{"a", "b"} {
		w.addPod(pod, fixture.GPUs(2))
	}
	closed.addPod("runs", fixture.GPUs(1))
	w.waitBinds(2)
	closed.waitPod("runs", "bound", bound)
	account := "*: guaranteed 4, used 4, borrowed 0, lent 0, pending 0"
	w.waitAccount("upgraded", account)
	old.stop()
	closed.deleteQuota("upgraded-closed")
	for name, start := range map[string]func() *replica{"upgraded": func() *replica { return e.startReplica(nil) }, "rolled-back": e.startOther} {
		now := start()
		now.waitLog("scheduling begins")
		w.addPod(name, fixture.GPUs(1))
		w.waitOverQuota(name, "quota upgraded: * needs 1, 4 of 4 in use")
		closed.addPod(name, fixture.GPUs(1))
		closed.waitOverQuota(name, "quota upgraded-closed was deleted: its namespaces get no GPUs until ")
		now.stop()
		w.deletePod(name)
		closed.deletePod(name)
	}
	w.verdict(of(closed))
}

// TestUpgradeReadsFiles: the configurations that the other version ships are valid, its definition of GpuQuota and the new one can replace each other, and a recording
// that it made can be replayed.
func TestUpgradeReadsFiles(t *testing.T) {
	folder := other(t)
	w := newWorld(t)
	configurations, err := filepath.Glob(filepath.Join(folder, "manifests/policies/*.yaml"))
	w.must(nil, err)
	for _, file := range append(configurations, filepath.Join(folder, "manifests/base/config.yaml")) {
		text, err := os.ReadFile(file)
		w.must(nil, err)
		if !strings.Contains(string(text), "kind: KubeSchedulerConfiguration") {
			continue
		}
		if said, err := exec.Command(newSubject(t, "").program, "--check-config", "--config", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", file, err, said)
		}
	}

	definition := "manifests/base/crds"
	w.createQuota(quota("defined", w.anyType("4", nil)))
	for _, from := range []string{folder, root, folder, root} {
		if said, err := exec.Command(filepath.Join(w.cluster.Bin(), "kubectl"), "--kubeconfig", w.cluster.Kubeconfig(), "apply", "-f",
			filepath.Join(from, definition)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", from, err, said)
		}
		w.patchQuota("defined", "metadata", object{"labels": object{"from": filepath.Base(from)}}) // the object is still valid
	}

	record := filepath.Join(t.TempDir(), "record.jsonl")
	old := newSubject(t, "-other", func(with *setup) { with.args = append(with.args, "--record="+record) })
	old.program = filepath.Join(folder, "build/release/bin/gpu-scheduler")
	old.start()
	w.addGPUNodes(1)
	w.addPod("recorded", fixture.GPUs(3))
	w.addPod("too-large", fixture.GPUs(9))
	w.waitBinds(1)
	old.stop()
	bench := os.Getenv("BENCH_BIN")
	if bench == "" {
		bench = filepath.Join(root, "build/release/bin/bench")
	}
	if said, err := exec.Command(bench, "replay", "--recording", record).CombinedOutput(); err != nil {
		t.Errorf("%s replay --recording: %v: %s", bench, err, said)
	}
	w.verdictWithout("too-large")
}
