package ecosystem

import (
	"fmt"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestTrainJob: the TrainJob of the examples. Kubeflow Trainer's controller is not run: the test makes the JobSet as that controller writes it, and JobSet's own
// controller makes the pods. They are placed one by one: one node of the training runs while the other one waits for GPUs. When both have ended, the JobSet has.
func TestTrainJob(t *testing.T) {
	p := newSite(t, fixture.GPUNode("gpu-0", fixture.H100, 4, fixture.Tainted()))
	p.startController("jobset", "apiVersion: config.jobset.x-k8s.io/v1alpha1"+setConfiguration)
	p.waitWebhooks(example("workloads/jobset.yaml"), ".spec.successPolicy.operator", "All")
	p.define("trainer")
	p.runScheduler("--secure-port=0")
	p.kubectl("apply", "-f", example("workloads/trainjob.yaml"))
	job := p.object("trainer.kubeflow.org", "v1alpha1", "trainjobs", "default", "finetune")
	p.create("jobset.x-k8s.io", "v1alpha2", "jobsets", p.trainerJobSet(job))

	const pods = "jobset.sigs.k8s.io/jobset-name=finetune"
	p.waitRunning("default", pods, 1, "gpu-0")
	p.waitWaiting("default", pods, 1, corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu")
	p.addNodes(taintedGPUs("gpu-1", fixture.H100))
	p.end(p.waitRunning("default", pods, 2, "gpu-")...)
	p.kubectl("wait", "--for=condition=Completed", "jobset/finetune", "--timeout=120s")
}

// trainerJobSet is the JobSet of a TrainJob as Kubeflow Trainer 2.0.0 writes it: JobSet.Build and Builder.Trainer of pkg/runtime/framework/plugins/jobset, and
// Torch.EnforceMLPolicy of pkg/runtime/framework/plugins/torch. It is the runtime's template with the TrainJob's numbers, resources and command.
func (p *plane) trainerJobSet(job *unstructured.Unstructured) *unstructured.Unstructured {
	p.t.Helper()
	runtimeName, _, _ := unstructured.NestedString(job.Object, "spec", "runtimeRef", "name")
	runtime := p.object("trainer.kubeflow.org", "v1alpha1", "clustertrainingruntimes", "", runtimeName)
	spec, _, _ := unstructured.NestedMap(runtime.Object, "spec", "template", "spec")
	trainer, _, _ := unstructured.NestedMap(job.Object, "spec", "trainer")
	for _, replicated := range spec["replicatedJobs"].([]any) {
		replicated := replicated.(map[string]any)
		replicated["replicas"] = int64(1)
		of := replicated["template"].(map[string]any)["spec"].(map[string]any)
		of["parallelism"], of["completions"] = trainer["numNodes"], trainer["numNodes"]
		containers, _, _ := unstructured.NestedSlice(of, "template", "spec", "containers")
		node := containers[0].(map[string]any)
		node["command"], node["resources"] = trainer["command"], trainer["resourcesPerNode"]
		node["ports"] = []any{map[string]any{"containerPort": int64(29500)}}
		node["env"] = []any{
			map[string]any{"name": "PET_NNODES", "value": fmt.Sprint(trainer["numNodes"])},
			map[string]any{"name": "PET_NPROC_PER_NODE", "value": "auto"},
			map[string]any{"name": "PET_NODE_RANK", "valueFrom": map[string]any{
				"fieldRef": map[string]any{"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}},
			map[string]any{"name": "PET_MASTER_ADDR", "value": fmt.Sprintf("%s-node-0-0.%s", job.GetName(), job.GetName())},
			map[string]any{"name": "PET_MASTER_PORT", "value": "29500"},
		}
		if err := unstructured.SetNestedSlice(of, containers, "template", "spec", "containers"); err != nil {
			p.t.Fatal(err)
		}
	}
	set := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": spec}}
	set.SetNamespace(job.GetNamespace())
	set.SetName(job.GetName())
	set.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(job, job.GroupVersionKind())})
	return set
}

func (p *plane) object(group, version, resource, namespace, name string) *unstructured.Unstructured {
	p.t.Helper()
	of := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	object, err := p.dynamic().Resource(of).Namespace(namespace).Get(p.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	return object
}

func (p *plane) create(group, version, resource string, object *unstructured.Unstructured) {
	p.t.Helper()
	of := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	if _, err := p.dynamic().Resource(of).Namespace(object.GetNamespace()).Create(p.t.Context(), object, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
}
