package ecosystem

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestArgoWorkflow: the steps of the examples' Workflow. Argo's controller is not run: the test makes the pods as that controller writes them. Of three steps with
// GPUs two run, as the quota has room for no more; when one has ended, the third runs. The steps without GPU keep off the GPU nodes.
func TestArgoWorkflow(t *testing.T) {
	p := newSite(t, taintedGPUs("gpu-0", fixture.H100))
	p.define("argo")
	p.runScheduler("--secure-port=0")
	p.kubectl("wait", "--for=condition=Established", "crd/gpuquotas.gpu-scheduler.io", "--timeout=60s")
	p.kubectl("apply", "-f", example("workloads/argo-workflow.yaml"))
	workflow := p.workflow("pipelines", "train-and-report")

	const pipelines, training = "pipelines", "step=train"
	p.startStep(workflow, "prepare", "prepare", nil)
	p.end(p.waitRunning(pipelines, "step=prepare", 1, "node-")...)
	for i, seed := range []string{"1", "2", "3"} {
		p.startStep(workflow, fmt.Sprintf("train(%d:%s)", i, seed), "train", map[string]string{"seed": seed})
	}
	running := p.waitRunning(pipelines, training, 2, "gpu-0")
	waiting := p.waitWaiting(pipelines, training, 1, "GpuQuotaExceeded", "quota pipelines: * needs 2, 4 of 4 in use")
	p.end(running[0])
	running = p.waitRunning(pipelines, training, 2, "gpu-0")
	if running[0].Name != waiting[0].Name && running[1].Name != waiting[0].Name {
		t.Errorf("%s waited, and %s and %s run", waiting[0].Name, running[0].Name, running[1].Name)
	}
	p.end(running...)
	p.startStep(workflow, "report", "report", nil)
	p.waitRunning(pipelines, "step=report", 1, "node-")
}

// argoWorkflow is what decides about the pods of a Workflow.
type argoWorkflow struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		SchedulerName string
		Templates     []argoTemplate
	}
}

type argoTemplate struct {
	Name          string
	Metadata      struct{ Labels map[string]string }
	SchedulerName string
	Tolerations   []corev1.Toleration
	Container     corev1.Container
}

func (p *plane) workflow(namespace, name string) (workflow argoWorkflow) {
	p.t.Helper()
	object := p.object("argoproj.io", "v1alpha1", "workflows", namespace, name)
	text, err := object.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &workflow)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return workflow
}

// startStep makes the pod of a task of the DAG.
func (p *plane) startStep(workflow argoWorkflow, task, template string, parameters map[string]string) {
	p.t.Helper()
	for _, candidate := range workflow.Spec.Templates {
		if candidate.Name != template {
			continue
		}
		pod := workflow.pod(workflow.Name+"."+task, candidate, parameters)
		if _, err := p.cluster.Client().CoreV1().Pods(workflow.Namespace).Create(p.t.Context(), pod, metav1.CreateOptions{}); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	p.t.Fatalf("%s has no template %s", workflow.Name, template)
}

// pod is a step's pod as Argo Workflows 4.0.5 writes it with its default configuration, less the environment of its containers: createWorkflowPod,
// addSchedulingConstraints and newExecContainer of workflow/controller/workflowpod.go. The names are those of GeneratePodName and NodeID.
func (w argoWorkflow) pod(node string, template argoTemplate, parameters map[string]string) *corev1.Pod {
	hash := fnv.New32a()
	hash.Write([]byte(node))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:      fmt.Sprintf("%s-%s-%d", w.Name, template.Name, hash.Sum32()),
			Namespace: w.Namespace,
			Labels:    map[string]string{"workflows.argoproj.io/workflow": w.Name, "workflows.argoproj.io/completed": "false"},
			Annotations: map[string]string{
				"workflows.argoproj.io/node-name":         node,
				"workflows.argoproj.io/node-id":           fmt.Sprintf("%s-%d", w.Name, hash.Sum32()),
				"kubectl.kubernetes.io/default-container": "main",
			},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(&w, schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Workflow"}),
			},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			SchedulerName: w.Spec.SchedulerName,
			Tolerations:   template.Tolerations,
			Volumes:       []corev1.Volume{emptyVolume("var-run-argo"), emptyVolume("tmp-dir-argo")},
		},
	}
	if template.SchedulerName != "" {
		pod.Spec.SchedulerName = template.SchedulerName
	}
	for key, value := range template.Metadata.Labels {
		pod.Labels[key] = value
	}
	const executor = "quay.io/argoproj/argoexec:v4.0.5"
	logging := []string{"--loglevel", "info", "--log-format", "text", "--gloglevel", "0"}
	argo := corev1.VolumeMount{Name: "var-run-argo", MountPath: "/var/run/argo"}
	main := *template.Container.DeepCopy()
	main.Name = "main"
	main.Command = append(append(append([]string{"/var/run/argo/argoexec", "emissary"}, logging...), "--"), main.Command...)
	for i := range main.Command {
		for name, value := range parameters {
			main.Command[i] = strings.ReplaceAll(main.Command[i], "{{inputs.parameters."+name+"}}", value)
		}
	}
	main.VolumeMounts = append(main.VolumeMounts, argo)
	temporary := corev1.VolumeMount{Name: "tmp-dir-argo", MountPath: "/tmp", SubPath: "0"}
	pod.Spec.InitContainers = []corev1.Container{
		{Name: "init", Image: executor, Command: append([]string{"argoexec", "init"}, logging...), VolumeMounts: []corev1.VolumeMount{argo}},
	}
	pod.Spec.Containers = []corev1.Container{
		{Name: "wait", Image: executor, Command: append([]string{"argoexec", "wait"}, logging...), VolumeMounts: []corev1.VolumeMount{temporary, argo}},
		main,
	}
	return pod
}

func emptyVolume(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}
