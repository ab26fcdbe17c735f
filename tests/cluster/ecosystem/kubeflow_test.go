package ecosystem

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTrainJob: the TrainJob of the examples, with the controllers of Kubeflow Trainer and of JobSet. The pods are placed one by one: one node of the training runs
// while the other one waits for GPUs. When both have ended, the TrainJob has.
func TestTrainJob(t *testing.T) {
	p := newSite(t, fixture.GPUNode("gpu-0", fixture.H100, 4, fixture.Tainted()))
	p.startController("jobset", "apiVersion: config.jobset.x-k8s.io/v1alpha1"+setConfiguration)
	p.waitWebhooks(example("workloads/jobset.yaml"), ".spec.successPolicy.operator", "All")
	p.startKubeflow("trainer", "kubeflow-system", "kubeflow-trainer-webhook-cert", "validator.trainer.kubeflow.org")
	p.runScheduler("--secure-port=0")
	p.kubectl("apply", "-f", example("workloads/trainjob.yaml"))

	const pods = "jobset.sigs.k8s.io/jobset-name=finetune"
	p.waitRunning("default", pods, 1, "gpu-0")
	p.waitWaiting("default", pods, 1, corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu")
	p.addNodes(taintedGPUs("gpu-1", fixture.H100))
	p.end(p.waitRunning("default", pods, 2, "gpu-")...)
	p.kubectl("wait", "--for=condition=Complete", "trainjob/finetune", "--timeout=120s")
}

// TestPyTorchJob: the PyTorchJob of the examples, with Kubeflow's Training Operator. Two of its three pods run, and the third waits for GPUs. When all have ended, the
// PyTorchJob has.
func TestPyTorchJob(t *testing.T) {
	p := newPyTorchSite(t, taintedGPUs("gpu-0", fixture.H100))
	p.kubectl("apply", "-f", example("workloads/pytorchjob.yaml"))

	const pods = "training.kubeflow.org/job-name=pretrain"
	p.waitRunning("default", pods, 2, "gpu-0")
	p.waitWaiting("default", pods, 1, corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu")
	p.addNodes(taintedGPUs("gpu-1", fixture.H100))
	p.end(p.waitRunning("default", pods, 3, "gpu-")...)
	p.kubectl("wait", "--for=condition=Succeeded", "pytorchjob/pretrain", "--timeout=120s")
}

// TestGangOfAPyTorchJob: master and workers start together. With room for two of the three none gets a node.
func TestGangOfAPyTorchJob(t *testing.T) {
	p := newPyTorchSite(t, taintedGPUs("gpu-0", fixture.H100))
	p.kubectl("apply", "-f", example("workloads/pytorchjob-gang.yaml"))

	const pods = "training.kubeflow.org/job-name=pretrain-gang"
	p.waitWaiting("default", pods, 3, corev1.PodReasonUnschedulable, "There is room for 2 of the 3 pods that start together as group pretrain.")
	p.addNodes(taintedGPUs("gpu-1", fixture.H100))
	p.end(p.waitRunning("default", pods, 3, "gpu-")...)
	p.kubectl("wait", "--for=condition=Succeeded", "pytorchjob/pretrain-gang", "--timeout=120s")
}

// newPyTorchSite is a site on which Kubeflow's Training Operator and gpu-scheduler work.
func newPyTorchSite(t *testing.T, nodes ...*corev1.Node) *plane {
	t.Helper()
	p := newSite(t, nodes...)
	p.startKubeflow("training-operator", "kubeflow", "training-operator-webhook-cert", "validator.training-operator.kubeflow.org", "--metrics-bind-address=0",
		"--enable-scheme=pytorchjob")
	p.runScheduler("--secure-port=0")
	return p
}

// startKubeflow starts a controller of Kubeflow without its webhooks, which only check objects. It makes the certificate of its webhooks itself, in a Secret that the
// kubelet would mount for it, and does nothing until it finds it there.
func (p *plane) startKubeflow(name, namespace, secret, webhooks string, args ...string) {
	p.t.Helper()
	p.kubectl("create", "namespace", namespace)
	p.kubectl("create", "secret", "generic", secret, "-n", namespace)
	// Where it looks for the webhooks whose certificate it keeps.
	configuration := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: webhooks}}
	if _, err := p.cluster.Client().AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(p.t.Context(), configuration, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
	temporary, health := p.t.TempDir(), p.freePort()
	mounted := filepath.Join(temporary, "k8s-webhook-server/serving-certs")
	if err := os.MkdirAll(mounted, 0o700); err != nil {
		p.t.Fatal(err)
	}
	args = append(args, fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", health), fmt.Sprintf("--webhook-server-port=%d", p.freePort()))
	p.startDefined(name, []string{"TMPDIR=" + temporary}, args, func() (bool, string) {
		made, err := p.cluster.Client().CoreV1().Secrets(namespace).Get(p.t.Context(), secret, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		for file, content := range made.Data {
			if err := os.WriteFile(filepath.Join(mounted, file), content, 0o600); err != nil {
				p.t.Fatal(err)
			}
		}
		return probe(health, "/readyz")
	})
}
