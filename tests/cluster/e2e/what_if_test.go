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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWhatIf asks what would become of pods that are not there: one goes, with a claim that is not there either, and one is beyond its quota.
// Nothing is written.
func TestWhatIf(t *testing.T) {
	w := newWorld(t)
	w.addNode(fixture.GPUNode("what-if-node", fixture.H100, 8))
	quotas(t)
	w.createQuota(quota("what-if", w.anyType("4", nil)))
	pods := `
apiVersion: v1
kind: PersistentVolume
metadata: {name: what-if-volume}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: csi.example, volumeHandle: v}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec: {volumeName: what-if-volume, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
status: {phase: Bound}
`
	for i, gpus := range []int{4, 1} {
		pods += fmt.Sprintf(`
---
apiVersion: v1
kind: Pod
metadata: {name: pod-%d}
spec:
  schedulerName: %s
  nodeSelector: {%s: %s}
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
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
	if claims, err := w.client.CoreV1().PersistentVolumeClaims(w.ns).List(t.Context(), metav1.ListOptions{}); err != nil || len(claims.Items) > 0 {
		t.Errorf("it made claims: %v, %v", claims, err)
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
