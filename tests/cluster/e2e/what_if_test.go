package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"
)

// TestWhatIf asks what would become of pods that are not there: one goes, one is beyond its quota. Nothing is written.
func TestWhatIf(t *testing.T) {
	w := newWorld(t)
	w.addNode(fixture.GPUNode("what-if-node", fixture.H100, 8))
	quotas(t)
	w.createQuota(quota("what-if", w.anyType("4", nil)))
	pods := ""
	for i, gpus := range []int{4, 1} {
		pods += fmt.Sprintf(`
---
apiVersion: v1
kind: Pod
metadata: {name: pod-%d}
spec:
  schedulerName: %s
  nodeSelector: {%s: %s}
  containers:
  - name: main
    image: none
    resources: {limits: {nvidia.com/gpu: %d}}
`, i, schedulerName, poolLabel, w.pool, gpus)
	}
	dir := t.TempDir()
	config, manifests := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "pods.yaml")
	w.must(nil, os.WriteFile(config, []byte(controlplane.SchedulerConfiguration(schedulerName, "", 5000, 5000)), 0o600))
	w.must(nil, os.WriteFile(manifests, []byte(pods), 0o600))

	command := exec.Command(benchProgram(t), "what-if", "--kubeconfig", w.cluster.Kubeconfig(), "--config", config, "--namespace", w.ns, manifests)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("bench what-if: %v\n%s", err, output)
	}
	for _, want := range []string{"what-if-node", "quota what-if: * needs 1, 4 of 4 in use, first in line; 1 more must be freed"} {
		if !strings.Contains(string(output), want) {
			t.Errorf("want %q in what it says:\n%s", want, output)
		}
	}
	if seen := w.podsThat(bound); len(seen) > 0 {
		t.Errorf("it made pods: %v", seen)
	}
}

// benchProgram is the bench that was built beside the scheduler.
func benchProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(root, "build/release/bin/gpu-scheduler")
	if set := os.Getenv("GPU_SCHEDULER_BIN"); set != "" {
		program = set
	}
	program = filepath.Join(filepath.Dir(program), "bench")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("no bench beside the scheduler: %v", err)
	}
	return program
}
