package ecosystem

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestRayCluster: the RayCluster of the examples, with KubeRay's operator. The head, without a GPU, keeps off the GPU nodes. When the worker group is scaled up, two
// workers run while two wait for a node.
func TestRayCluster(t *testing.T) {
	p := newSite(t, taintedGPUs("gpu-0", fixture.H100))
	health := p.freePort()
	p.startDefined("kuberay", nil, []string{"--enable-leader-election=false", "--metrics-addr=0", fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", health)},
		func() (bool, string) { return probe(health, "/readyz") })
	p.runScheduler("--secure-port=0")
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

// TestArgoWorkflow: the Workflow of the examples, with Argo's workflow controller. Of three steps with GPUs two run, as the quota has room for no more; when one has
// ended, the third runs. The steps without GPU keep off the GPU nodes. When all steps have ended, the Workflow has succeeded.
func TestArgoWorkflow(t *testing.T) {
	p := newSite(t, taintedGPUs("gpu-0", fixture.H100))
	p.kubectl("create", "namespace", "argo")
	p.kubectl("-n", "argo", "create", "configmap", "workflow-controller-configmap", "--from-literal=metricsConfig={enabled: false}")
	p.startDefined("argo", []string{"LEADER_ELECTION_DISABLE=true"}, []string{"--namespace=argo", "--executor-image=quay.io/argoproj/argoexec:v4.0.5"},
		func() (bool, string) { return true, "" }) // its probe has a fixed port, which another program may have
	p.runScheduler("--secure-port=0")
	p.kubectl("wait", "--for=condition=Established", "crd/gpuquotas.gpu-scheduler.io", "--timeout=60s")
	p.kubectl("apply", "-f", example("workloads/argo-workflow.yaml"))

	const pipelines, training = "pipelines", "step=train"
	p.endSteps(p.waitRunning(pipelines, "step=prepare", 1, "node-")...)
	running := p.waitRunning(pipelines, training, 2, "gpu-0")
	waiting := p.waitWaiting(pipelines, training, 1, "GpuQuotaExceeded", "quota pipelines: * needs 2, 4 of 4 in use")
	p.endSteps(running[0])
	running = p.waitRunning(pipelines, training, 2, "gpu-0")
	if running[0].Name != waiting[0].Name && running[1].Name != waiting[0].Name {
		t.Errorf("%s waited, and %s and %s run", waiting[0].Name, running[0].Name, running[1].Name)
	}
	p.endSteps(running...)
	p.endSteps(p.waitRunning(pipelines, "step=report", 1, "node-")...)
	p.kubectl("-n", pipelines, "wait", "--for=jsonpath={.status.phase}=Succeeded", "workflow/train-and-report", "--timeout=120s")
}

// endSteps ends pods of a Workflow as a kubelet does when all their containers have ended, and reports their results as Argo's executor does in the container wait.
func (p *plane) endSteps(pods ...corev1.Pod) {
	p.t.Helper()
	results := schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflowtaskresults"}
	for _, pod := range pods {
		var result unstructured.Unstructured
		result.SetAPIVersion("argoproj.io/v1alpha1")
		result.SetKind("WorkflowTaskResult")
		result.SetName(pod.Annotations["workflows.argoproj.io/node-id"])
		const workflow = "workflows.argoproj.io/workflow"
		result.SetLabels(map[string]string{workflow: pod.Labels[workflow], "workflows.argoproj.io/report-outputs-completed": "true"})
		if _, err := p.dynamic().Resource(results).Namespace(pod.Namespace).Create(p.t.Context(), &result, metav1.CreateOptions{}); err != nil {
			p.t.Fatal(err)
		}
		pod.Status.Phase = corev1.PodSucceeded
		for i := range pod.Status.ContainerStatuses {
			pod.Status.ContainerStatuses[i].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}
		}
		pod.ResourceVersion = "" // KWOK may have changed the pod in between
		if _, err := p.cluster.Client().CoreV1().Pods(pod.Namespace).UpdateStatus(p.t.Context(), &pod, metav1.UpdateOptions{}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// TestTrainJob: the TrainJob of the examples, with the controllers of Kubeflow Trainer and of JobSet, which makes the pods. They are placed one by one: one node of the
// training runs while the other one waits for GPUs. When both have ended, the TrainJob is complete.
func TestTrainJob(t *testing.T) {
	p := newSite(t, fixture.GPUNode("gpu-0", fixture.H100, 4, fixture.Tainted()))
	p.startController("jobset", "apiVersion: config.jobset.x-k8s.io/v1alpha1"+setConfiguration)
	p.waitWebhooks(example("workloads/jobset.yaml"), ".spec.successPolicy.operator", "All")
	p.startTrainer()
	p.runScheduler("--secure-port=0")
	p.eventually("Trainer's webhook, which must have seen the runtime, accepts the TrainJob", func() (bool, string) {
		got, err := run(t, "kubectl", "--kubeconfig", p.cluster.Kubeconfig(), "apply", "-f", example("workloads/trainjob.yaml"))
		return err == nil, fmt.Sprint(got, err)
	})

	const job = "jobset.sigs.k8s.io/jobset-name=finetune"
	for _, pod := range p.waitRunning("default", job, 1, "gpu-0") {
		for _, variable := range pod.Spec.Containers[0].Env {
			if variable.Name == "PET_NPROC_PER_NODE" && variable.Value != "auto" {
				t.Errorf("torchrun starts %s processes, not one per GPU", variable.Value)
			}
		}
	}
	p.waitWaiting("default", job, 1, corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu")
	p.addNodes(taintedGPUs("gpu-1", fixture.H100))
	p.end(p.waitRunning("default", job, 2, "gpu-")...)
	p.kubectl("wait", "--for=condition=Complete", "trainjob/finetune", "--timeout=120s")
}

// startTrainer starts Kubeflow Trainer's controller. It looks for the certificate of its webhooks in the folder for temporary files.
func (p *plane) startTrainer() {
	p.t.Helper()
	health, webhook, temporary := p.freePort(), p.freePort(), p.t.TempDir()
	if err := p.cluster.WriteServingCertificate(filepath.Join(temporary, "k8s-webhook-server/serving-certs")); err != nil {
		p.t.Fatal(err)
	}
	args := []string{fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", health), fmt.Sprintf("--webhook-server-port=%d", webhook)}
	p.startDefined("trainer", []string{"TMPDIR=" + temporary}, args, func() (bool, string) { return answers(health, webhook) })
	p.registerWebhooks("trainer", webhook)
}
