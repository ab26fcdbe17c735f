package ecosystem

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestKarpenter: Karpenter itself, whose cloud is simulated, makes a node for each pod of gpu-scheduler that has no room, and none for pods that a node would not help: beyond
// their quota, or in a group that lacks pods. gpu-scheduler places pods on the nodes as they come, and an empty node is removed.
func TestKarpenter(t *testing.T) {
	p := newSite(t)
	p.runScheduler("--secure-port=0")
	p.startKarpenter()
	p.kubectl("apply", "-f", example("karpenter/node-pool.yaml"))
	p.waitEstablished("crd/gpuquotas.gpu-scheduler.io")
	p.kubectl("create", "namespace", "capped")
	p.apply(`{apiVersion: gpu-scheduler.io/v1alpha1, kind: GpuQuota, metadata: {name: capped}, spec: {namespaces: [capped], quotas: [{gpuType: L4, guaranteed: 8}]}}`)
	p.kubectl("wait", "--for=jsonpath={.status.observedGeneration}=1", "gpuquota/capped", "--timeout=60s")
	const pods = "app=render"
	render := func(namespace string) { p.kubectl("-n", namespace, "create", "-f", example("karpenter/job.yaml")) }

	render("capped")
	first := p.waitRunning("capped", pods, 1, "kwok-")
	render("capped")
	p.waitWaiting("capped", pods, 1, "GpuQuotaExceeded", "quota capped: L4 needs 8, 8 of 8 in use")
	p.apply(`{apiVersion: v1, kind: Pod, metadata: {name: lonely, namespace: default, labels: {app: lonely}, annotations: {gpu-scheduler.io/pod-group: two, gpu-scheduler.io/pod-group-min-count: "2"}},
spec: {schedulerName: gpu-scheduler, nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}, tolerations: [{operator: Exists}],
containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {limits: {nvidia.com/gpu: 8}}}]}}`)
	p.waitWaiting("default", "app=lonely", 1, "WaitingForPods", "")

	// Karpenter looks at all pods that wait when it makes this one's node.
	render("default")
	second := p.waitRunning("default", pods, 1, "kwok-")
	if first[0].Spec.NodeName == second[0].Spec.NodeName {
		t.Fatalf("both pods have all GPUs of %s", first[0].Spec.NodeName)
	}
	p.waitNodeClaims(2)
	p.waitWaiting("capped", pods, 1, "GpuQuotaExceeded", "")
	p.waitWaiting("default", "app=lonely", 1, "WaitingForPods", "")

	// The quota is free again, and so is a node: no other is made.
	p.end(first...)
	p.waitPodsThat("run", "capped", pods, 1, func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
	p.kubectl("-n", "default", "delete", "pod", "lonely")
	p.end(second...)
	p.waitNodeClaims(1)
	p.kubectl("-n", "capped", "delete", "jobs", "--all")
	p.waitNodeClaims(0)
}

// apply applies what is written.
func (p *plane) apply(manifest string) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.kubectl("apply", "-f", file)
}

// startKarpenter starts Karpenter with its provider for tests: what it makes is an object of the API server, and not a machine.
func (p *plane) startKarpenter() {
	p.t.Helper()
	health, metrics := p.freePort(), p.freePort()
	types := filepath.Join(root, "tests/cluster/ecosystem/testdata/karpenter-instance-types.json")
	env := []string{"DISABLE_LEADER_ELECTION=true", "SYSTEM_NAMESPACE=kube-system", "INSTANCE_TYPES_FILE_PATH=" + types}
	args := []string{fmt.Sprintf("--health-probe-port=%d", health), fmt.Sprintf("--metrics-port=%d", metrics)}
	p.startDefined("karpenter", env, args, func() (bool, string) { return probe(health, "/healthz") })
	p.apply(`{apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass, metadata: {name: default}}`)
}

// waitNodeClaims waits until there are so many nodes, or orders for nodes, of Karpenter.
func (p *plane) waitNodeClaims(want int) {
	p.t.Helper()
	claims := schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
	p.eventually(fmt.Sprintf("there are %d nodes of Karpenter", want), func() (bool, string) {
		list, err := p.dynamic().Resource(claims).List(p.t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		return len(list.Items) == want, fmt.Sprintf("there are %d", len(list.Items))
	})
}
