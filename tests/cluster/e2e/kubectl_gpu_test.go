package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestKubectlGpuPlan asks what would become of pods that are not there: one goes, with a claim that is not there either, and one is beyond its
// quota. Nothing is written.
func TestKubectlGpuPlan(t *testing.T) {
	w := newWorld(t)
	w.addNode(fixture.GPUNode("plan-node", fixture.H100, 8))
	quotas(t)
	w.createQuota(quota("plan", w.anyType("4", nil)))
	pods := `
apiVersion: v1
kind: PersistentVolume
metadata: {name: plan-volume}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: csi.example, volumeHandle: v}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec: {volumeName: plan-volume, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
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
	manifests := filepath.Join(t.TempDir(), "pods.yaml")
	w.must(nil, os.WriteFile(manifests, []byte(pods), 0o600))

	var plan struct {
		WouldStart []struct{ Node string }
		WouldWait  []struct{ Why string }
	}
	w.kubectlGPU(w.cluster.Kubeconfig(), 3, &plan, "plan", "-n", w.ns, "-f", manifests)
	if len(plan.WouldStart) != 1 || plan.WouldStart[0].Node != "plan-node" {
		t.Errorf("want one pod on plan-node: %+v", plan)
	}
	beyond := "quota plan: * needs 1, 4 of 4 in use, first in line; 1 more must be freed"
	if len(plan.WouldWait) != 1 || plan.WouldWait[0].Why != beyond {
		t.Errorf("want one pod that waits, %s: %+v", beyond, plan)
	}
	if seen := w.podsThat(bound); len(seen) > 0 {
		t.Errorf("it made pods: %v", seen)
	}
	if claims, err := w.client.CoreV1().PersistentVolumeClaims(w.ns).List(t.Context(), metav1.ListOptions{}); err != nil || len(claims.Items) > 0 {
		t.Errorf("it made claims: %v, %v", claims, err)
	}
}

// TestKubectlGpuAgreesWithTheScheduler compares what the plugin computes with what the scheduler tells by its metrics and by
// its words to pods; then the scheduler ends, and the plugin says the same. The account of the plugin may only read.
func TestKubectlGpuAgreesWithTheScheduler(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("another scheduler says other things")
	}
	w := newWorld(t)
	w.addGPUNodes(3)
	quotas(t)
	w.createQuota(quota("agree", w.anyType("4", nil)))
	port, err := controlplane.FreePort()
	w.must(nil, err)
	s := newSubject(t, "", func(with *setup) { with.args = append(with.args, fmt.Sprintf("--secure-port=%d", port)) })
	s.start()
	defer s.stop()
	w.addPod("runs", fixture.GPUs(4))
	w.waitBinds(1)
	w.addPod("gated", fixture.GPUs(2), func(p *corev1.Pod) {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	})
	told := map[string]string{}
	for _, name := range []string{"beyond", "larger"} {
		w.addPod(name, fixture.GPUs(int64(len(told)+1)))
		w.waitOverQuota(name, "quota agree: * needs "+strconv.Itoa(len(told)+1))
		told[name] = ""
	}
	for name := range told {
		told[name] = condition(w.waitPod(name, "told", func(*corev1.Pod) bool { return true })).Message
	}
	w.letReadMetrics("reader")
	metrics := fmt.Sprintf("https://127.0.0.1:%d/metrics", port)
	token := w.token("reader")
	pending := func() (all, gated int) {
		page := get(t, metrics, token)
		for _, line := range regexp.MustCompile(`scheduler_pending_pods\{queue="(\w+)"\} (\d+)`).FindAllStringSubmatch(page.body, -1) {
			n, _ := strconv.Atoi(line[2])
			all += n
			if line[1] == "gated" {
				gated = n
			}
		}
		return all, gated
	}
	until(t, "the API server to let the reader", func() bool { return get(t, metrics, token).status == http.StatusOK })
	until(t, "the scheduler to count the pods that wait", func() bool { all, _ := pending(); return all == 3 })
	all, gated := pending()

	kubeconfig := w.readerKubeconfig()
	compare := func(when string) {
		var overview struct {
			GPUs    struct{ Total, Used, Free int }
			Waiting struct{ Pods, Gated int }
		}
		w.kubectlGPU(kubeconfig, 0, &overview)
		if overview.Waiting.Pods != all || overview.Waiting.Gated != gated {
			t.Errorf("%s: metrics count %d that wait, %d of them gated; the plugin: %+v", when, all, gated, overview.Waiting)
		}
		if overview.GPUs.Total != 24 || overview.GPUs.Used != 4 || overview.GPUs.Free != 20 {
			t.Errorf("%s: want 4 of 24 GPUs used: %+v", when, overview.GPUs)
		}
		for name, message := range told {
			var why struct{ Verdict, Quota, Headline string }
			w.kubectlGPU(kubeconfig, 0, &why, "why", "pod/"+name, "-n", w.ns)
			if why.Verdict != "Waits" || why.Headline != message {
				t.Errorf("%s: pod %s was told %q; the plugin: %+v", when, name, message, why)
			}
		}
	}
	compare("beside the scheduler")
	s.check()
	s.stop()
	compare("without a scheduler")
}

// readerKubeconfig is of an account that has the role that manifests/base has for the plugin.
func (w *world) readerKubeconfig() string {
	w.t.Helper()
	role := filepath.Join(root, "manifests/base/reader-role.yaml")
	apply := exec.Command(filepath.Join(w.cluster.Bin(), "kubectl"), "--kubeconfig", w.cluster.Kubeconfig(), "apply", "-f", role)
	if output, err := apply.CombinedOutput(); err != nil {
		w.t.Fatalf("kubectl apply -f %s: %v\n%s", role, err, output)
	}
	kubeconfig, err := w.cluster.TokenKubeconfig(w.t.Context(), w.ns, "gpu-reader")
	w.must(nil, err)
	w.bindClusterRole("gpu-scheduler-reader", "gpu-reader")
	until(w.t, "the API server to let the account read", func() bool {
		return exec.Command(filepath.Join(w.cluster.Bin(), "kubectl"), "--kubeconfig", kubeconfig, "get", "gpuquotas").Run() == nil
	})
	return kubeconfig
}

// kubectlGPU asks the plugin that was built beside the scheduler, as JSON; it must end with that code.
func (w *world) kubectlGPU(kubeconfig string, code int, answer any, args ...string) {
	w.t.Helper()
	program := programBeside(w.t, "kubectl-gpu")
	config := filepath.Join(w.t.TempDir(), "config.yaml")
	w.must(nil, os.WriteFile(config, []byte(controlplane.SchedulerConfiguration(schedulerName, "", 5000, 5000)), 0o600))
	command := exec.Command(program, append(args, "--kubeconfig", kubeconfig, "--config", config, "-o", "json")...)
	var complaints strings.Builder
	command.Stderr = &complaints
	output, err := command.Output()
	ended := new(exec.ExitError)
	if err != nil && !errors.As(err, &ended) {
		w.t.Fatalf("kubectl-gpu %v: %v", args, err)
	}
	if got := command.ProcessState.ExitCode(); got != code {
		w.t.Fatalf("kubectl-gpu %v ended with %d, want %d: %s\n%s", args, got, code, complaints.String(), output)
	}
	if err := json.Unmarshal(output, answer); err != nil {
		w.t.Fatalf("kubectl-gpu %v: %v\n%s", args, err, output)
	}
}

// programBeside is a program that was built beside the scheduler.
func programBeside(t *testing.T, name string) string {
	t.Helper()
	if !isGPUScheduler() {
		t.Skip("another scheduler has no such program")
	}
	program := filepath.Join(root, "build/release/bin/gpu-scheduler")
	if set := os.Getenv("GPU_SCHEDULER_BIN"); set != "" {
		program = set
	}
	program = filepath.Join(filepath.Dir(program), name)
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("no %s beside the scheduler: %v", name, err)
	}
	return program
}
