package ecosystem

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kueueConfiguration is that of Kueue's manager outside a pod, for Jobs. The serving of metrics is off.
const kueueConfiguration = `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
health: {healthProbeBindAddress: "127.0.0.1:HEALTH"}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: WEBHOOK, certDir: CERTS}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
integrations: {frameworks: ["batch/job"]}
featureGates: {VisibilityOnDemand: false}
`

// newKueue is a site with two nodes of eight H100, one of eight L4, Kueue and the queues of manifests/examples/kueue. The scheduler is not started.
func newKueue(t *testing.T, settings string) *plane {
	t.Helper()
	p := newSite(t, taintedGPUs("h100-0", fixture.H100), taintedGPUs("h100-1", fixture.H100), taintedGPUs("l4-0", fixture.L4))
	p.kubectl("create", "namespace", "kueue-system")
	p.startController("kueue", kueueConfiguration+settings)
	p.kubectl("apply", "-f", example("kueue/queues.yaml"))
	p.waitWebhooks(example("kueue/jobs.yaml"), ".spec.suspend", "true")
	return p
}

// TestKueueAdmits: Kueue's manager admits, gpu-scheduler places. Of two jobs one is suspended, without pods, until the other has ended. The pods go where
// Kueue sends them, and are placed with the toleration that Kueue gives them.
func TestKueueAdmits(t *testing.T) {
	p := newKueue(t, "")
	p.runScheduler("--secure-port=0")
	p.kubectl("apply", "-f", example("kueue/jobs.yaml"))
	running, suspended := p.waitOneAdmitted()
	pods := p.waitRunning("research", "job-name="+running, 2, "h100-")
	for _, pod := range pods {
		if pod.Spec.NodeSelector["nvidia.com/gpu.product"] != fixture.H100.Product {
			t.Errorf("Kueue sent %s nowhere: node selector %v", pod.Name, pod.Spec.NodeSelector)
		}
	}
	p.wantSuspended(suspended)
	p.end(pods...)
	p.waitAdmitted(suspended)
	p.waitRunning("research", "job-name="+suspended, 2, "h100-")

	if _, err := run(t, "kubectl", "--kubeconfig", p.cluster.Kubeconfig(), "patch", "clusterqueue", "research", "--type=merge",
		"-p", `{"spec":{"namespaceSelector":{"matchLabels":{"not a label":"x"}}}}`); err == nil || !strings.Contains(err.Error(), "admission webhook") {
		t.Errorf("Kueue's webhook accepts a bad ClusterQueue: %v", err)
	}
}

// TestKueueBesideACap: a GpuQuota of what Kueue may admit refuses nothing that Kueue admits, and stops a pod that goes around Kueue. What such a pod uses, jobs
// wait for.
func TestKueueBesideACap(t *testing.T) {
	p := newKueue(t, "")
	p.runScheduler("--secure-port=0")
	p.kubectl("apply", "-f", example("kueue/cap.yaml"))
	p.kubectl("wait", "--for=condition=Ready", "gpuquota/research", "--timeout=120s")
	p.kubectl("apply", "-f", example("kueue/jobs.yaml"))
	running, suspended := p.waitOneAdmitted()
	pods := p.waitRunning("research", "job-name="+running, 2, "h100-")

	around := fixture.Pod("research", "around-kueue", "gpu-scheduler", fixture.GPUs(3), fixture.ToleratesGPUTaint(),
		fixture.Labelled("app", "around"), fixture.On("nvidia.com/gpu.product", fixture.H100.Product))
	if _, err := p.cluster.Client().CoreV1().Pods("research").Create(t.Context(), around, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.waitWaiting("research", "app=around", 1, "GpuQuotaExceeded", "quota research: H100 needs 3, 6 of 8 in use")
	p.wantSuspended(suspended)

	p.end(pods...)
	p.waitAdmitted(suspended)
	bystander := p.waitRunning("research", "app=around", 1, "h100-") // it has waited longer than the job's pods
	p.waitRunning("research", "job-name="+suspended, 1, "h100-")
	p.waitWaiting("research", "job-name="+suspended, 1, "GpuQuotaExceeded", "quota research: H100 needs 3, 6 of 8 in use")
	p.end(bystander...)
	p.waitRunning("research", "job-name="+suspended, 2, "h100-")
}

// TestKueueAboveASmallerQuota: Kueue admits two jobs, and a GpuQuota has room for one. The second one's pods wait with a message, and run when the first has
// ended.
func TestKueueAboveASmallerQuota(t *testing.T) {
	p := newKueue(t, "")
	older, newer := p.admitTwoOverACapOfOne(time.Second)
	p.runScheduler("--secure-port=0")
	pods := p.waitRunning("research", "job-name="+older, 2, "h100-")
	p.waitWaiting("research", "job-name="+newer, 2, "GpuQuotaExceeded", "quota research: H100 needs 3, 6 of 6 in use")
	p.end(pods...)
	p.waitRunning("research", "job-name="+newer, 2, "h100-")
}

// TestKueueEndsHalvesOfJobs: of two admitted jobs the quota has room for one half each, and each waits for its other half. Kueue's waitForPodsReady takes the
// job back that has waited too long, and the other one runs; then the first does.
func TestKueueEndsHalvesOfJobs(t *testing.T) {
	p := newKueue(t, "waitForPodsReady: {timeout: 90s, requeuingStrategy: {backoffBaseSeconds: 1, backoffMaxSeconds: 10}}\n")
	older, newer := p.admitTwoOverACapOfOne(20 * time.Second) // so the older runs into the time-out while the newer has time left
	// A pod of the older job is created anew, and is then behind both of the newer job's.
	replaced := p.pods("research", "job-name="+older)[1]
	p.kubectl("-n", "research", "delete", "pod", replaced.Name)
	p.waitPodsThat("are there", "research", "job-name="+older, 2, func(pod *corev1.Pod) bool { return pod.Name != replaced.Name })
	p.runScheduler("--secure-port=0")
	for _, job := range []string{older, newer} {
		p.waitRunning("research", "job-name="+job, 1, "h100-")
		p.waitWaiting("research", "job-name="+job, 1, "GpuQuotaExceeded", "quota research: H100 needs 3, 6 of 6 in use")
	}
	p.eventually("Kueue takes "+older+" back", func() (bool, string) {
		evicted := condition(p.workload(older), "Evicted")
		return strings.Contains(evicted, "PodsReadyTimeout"), evicted
	})
	pods := p.waitRunning("research", "job-name="+newer, 2, "h100-")
	if evicted := condition(p.workload(newer), "Evicted"); evicted != "" {
		t.Errorf("Kueue has taken %s back, too: %s", newer, evicted)
	}
	p.end(pods...)
	p.waitRunning("research", "job-name="+older, 2, "h100-")
}

// admitTwoOverACapOfOne has Kueue admit both jobs of the example, the second this much later, where a GpuQuota has room for one. Their pods are there, and pods
// that are created from now on are younger.
func (p *plane) admitTwoOverACapOfOne(later time.Duration) (older, newer string) {
	p.t.Helper()
	p.applyScheduler() // it brings the definition of GpuQuota
	p.waitEstablished("crd/gpuquotas.gpu-scheduler.io")
	p.kubectl("apply", "-f", example("kueue/cap.yaml"))
	p.kubectl("patch", "gpuquota", "research", "--type=merge", "-p", `{"spec":{"quotas":[{"gpuType":"H100","guaranteed":6}]}}`)
	p.kubectl("apply", "-f", example("kueue/jobs.yaml"))
	older, newer = p.waitOneAdmitted()
	there := func(*corev1.Pod) bool { return true }
	pods := p.waitPodsThat("are there", "research", "job-name="+older, 2, there)
	p.waitOlderThan(later, pods)
	p.kubectl("patch", "clusterqueue", "research", "--type=json", "-p",
		`[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/2/nominalQuota","value":"12"}]`)
	p.waitAdmitted(newer)
	p.waitOlderThan(time.Second, p.waitPodsThat("are there", "research", "job-name="+newer, 2, there))
	return older, newer
}

// waitOlderThan waits until pods were created longer ago than this. Times of creation are whole seconds, so a second makes all later pods younger.
func (p *plane) waitOlderThan(age time.Duration, pods []corev1.Pod) {
	p.t.Helper()
	p.eventually("the clock goes on", func() (bool, string) {
		for _, pod := range pods {
			if time.Since(pod.CreationTimestamp.Time) <= age {
				return false, pod.CreationTimestamp.String()
			}
		}
		return true, ""
	})
}

var workloads = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"}

// workload is what Kueue made for a Job, empty if it has made none yet.
func (p *plane) workload(job string) unstructured.Unstructured {
	p.t.Helper()
	list, err := p.dynamic().Resource(workloads).Namespace("research").List(p.t.Context(), metav1.ListOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, w := range list.Items {
		if owner := metav1.GetControllerOf(&w); owner != nil && owner.Kind == "Job" && owner.Name == job {
			return w
		}
	}
	return unstructured.Unstructured{}
}

// condition is one of a workload's, as "STATUS REASON: MESSAGE".
func condition(workload unstructured.Unstructured, kind string) string {
	conditions, _, _ := unstructured.NestedSlice(workload.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == kind {
			return fmt.Sprintf("%v %v: %v", c["status"], c["reason"], c["message"])
		}
	}
	return ""
}

// waitOneAdmitted waits until Kueue has decided about both jobs of the example, and returns the one that it has admitted and the other one. They were created
// in the same second, so either may be the first.
func (p *plane) waitOneAdmitted() (admitted, pending string) {
	p.t.Helper()
	jobs := []string{"train-a", "train-b"}
	p.eventually("one of two jobs is admitted", func() (bool, string) {
		a, b := p.workload(jobs[0]), p.workload(jobs[1])
		seen := fmt.Sprintf("%q and %q", condition(a, "QuotaReserved"), condition(b, "QuotaReserved"))
		for i, w := range []unstructured.Unstructured{a, b} {
			if strings.HasPrefix(condition(w, "Admitted"), "True ") {
				admitted, pending = jobs[i], jobs[1-i]
			}
		}
		return admitted != "" && strings.Contains(condition(p.workload(pending), "QuotaReserved"), "insufficient unused quota"), seen
	})
	return admitted, pending
}

func (p *plane) waitAdmitted(job string) {
	p.t.Helper()
	p.eventually(job+" is admitted", func() (bool, string) {
		admitted := condition(p.workload(job), "Admitted")
		return strings.HasPrefix(admitted, "True "), admitted
	})
}

// wantSuspended: Kueue keeps a job suspended, which therefore has no pods.
func (p *plane) wantSuspended(name string) {
	p.t.Helper()
	job, err := p.cluster.Client().BatchV1().Jobs("research").Get(p.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	if pods := p.pods("research", "job-name="+name); job.Spec.Suspend == nil || !*job.Spec.Suspend || len(pods) > 0 {
		p.t.Errorf("%s, which Kueue has not admitted, has %d pods; suspended: %v", name, len(pods), job.Spec.Suspend)
	}
}
