package ecosystem

import (
	"fmt"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

// TestRayCluster: the RayCluster of the examples, with KubeRay's operator. The head, without a GPU, keeps off the GPU nodes. When the worker group is scaled up, two
// workers run while two wait for a node.
func TestRayCluster(t *testing.T) {
	p := newRaySite(t, taintedGPUs("gpu-0", fixture.H100))
	p.kubectl("apply", "-f", example("workloads/raycluster.yaml"))

	const cluster, workers = "ray.io/cluster=tune", "ray.io/cluster=tune,ray.io/node-type=worker"
	p.waitRunning("default", cluster+",ray.io/node-type=head", 1, "node-")
	for _, worker := range p.waitRunning("default", workers, 2, "gpu-0") {
		if start := strings.Join(worker.Spec.Containers[0].Args, " "); !strings.Contains(start, "--num-gpus=4") {
			t.Errorf("KubeRay starts Ray in %s with %q", worker.Name, start)
		}
	}
	p.kubectl("wait", "--for=jsonpath={.status.state}=ready", "raycluster/tune", "--timeout=120s")

	p.kubectl("patch", "raycluster", "tune", "--type=json", "-p", `[{"op":"replace","path":"/spec/workerGroupSpecs/0/replicas","value":4}]`)
	p.waitWaiting("default", workers, 2, corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu")
	p.addNodes(taintedGPUs("gpu-1", fixture.H100))
	p.waitRunning("default", workers, 4, "gpu-")
	p.wantPerNode(workers, map[string]int{"gpu-0": 2, "gpu-1": 2})
}

// TestGangOfARayCluster: head and workers start together, although the head has room from the beginning. A worker that is added later is placed by itself.
func TestGangOfARayCluster(t *testing.T) {
	p := newRaySite(t, fixture.GPUNode("gpu-0", fixture.H100, 4, fixture.Tainted()))
	p.kubectl("apply", "-f", example("workloads/raycluster-gang.yaml"))

	const cluster, workers = "ray.io/cluster=tune-gang", "ray.io/cluster=tune-gang,ray.io/node-type=worker"
	p.waitWaiting("default", cluster, 3, corev1.PodReasonUnschedulable, "There is room for 2 of the 3 pods that start together as group tune.")
	p.addNodes(fixture.GPUNode("gpu-1", fixture.H100, 4, fixture.Tainted()))
	p.waitRunning("default", cluster+",ray.io/node-type=head", 1, "node-")
	p.waitRunning("default", workers, 2, "gpu-")

	p.kubectl("patch", "raycluster", "tune-gang", "--type=json", "-p", `[{"op":"replace","path":"/spec/workerGroupSpecs/0/replicas","value":4}]`)
	p.waitWaiting("default", workers, 2, corev1.PodReasonUnschedulable, "Insufficient nvidia.com/gpu")
	p.addNodes(fixture.GPUNode("gpu-2", fixture.H100, 4, fixture.Tainted()))
	p.waitRunning("default", workers, 3, "gpu-")
}

// TestRayJob: the RayJob of the examples, with KubeRay's operator. Its cluster's pods are placed, and when they run that which submits the job to it, away from the GPU
// nodes. When the job is deleted its GPUs are free for a RayService.
func TestRayJob(t *testing.T) {
	p := newRaySite(t, fixture.GPUNode("gpu-0", fixture.H100, 4, fixture.Tainted()))
	p.kubectl("apply", "-f", example("workloads/rayjob.yaml"))
	const head, workers = "ray.io/node-type=head", "ray.io/node-type=worker"
	p.waitRunning("default", head, 1, "node-")
	p.waitRunning("default", workers, 2, "gpu-0")
	p.waitRunning("default", "batch.kubernetes.io/job-name=fine-tune", 1, "node-")

	p.kubectl("apply", "-f", example("workloads/rayservice.yaml"))
	p.waitWaiting("default", workers, 2, corev1.PodReasonUnschedulable, "Insufficient nvidia.com/gpu")
	p.kubectl("delete", "rayjob", "fine-tune", "--timeout=60s")
	p.waitPodsThat("are left", "default", workers, 2, func(*corev1.Pod) bool { return true })
	p.waitRunning("default", workers, 2, "gpu-0")
}

// newRaySite is a site on which KubeRay's operator and gpu-scheduler work.
func newRaySite(t *testing.T, nodes ...*corev1.Node) *plane {
	t.Helper()
	p := newSite(t, nodes...)
	health := p.freePort()
	p.startDefined("kuberay", nil, []string{"--enable-leader-election=false", "--metrics-addr=0", fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", health)},
		func() (bool, string) { return probe(health, "/readyz") })
	p.runScheduler("--secure-port=0")
	return p
}
