package e2e

import (
	"context"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// What a GPU is called, and what others make of the name: Kubernetes' ResourceQuota, and a device plugin that gives out one share a pod.

const sharedGPU = corev1.ResourceName("nvidia.com/gpu.shared")

// TestResourceQuotaCountsNames: a quota on nvidia.com/gpu alone refuses such pods at creation and lets in those that ask for
// nvidia.com/gpu.shared, as many as like; the scheduler places what was let in.
func TestResourceQuotaCountsNames(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("renamed", fixture.L4, 1, fixture.Allocatable(fixture.GPUResource, "0"), fixture.Allocatable(sharedGPU, "4"),
		fixture.Label("nvidia.com/gpu.replicas", "4"), fixture.Label("nvidia.com/gpu.sharing-strategy", "time-slicing")))
	w.addNode(fixture.GPUNode("whole", fixture.L4, 4))
	w.limitTo("requests.nvidia.com/gpu", "1")

	w.addPod("one", fixture.GPUs(1))
	w.waitOn("one", "whole")
	w.refusedAtCreation(fixture.GPUs(1))
	for _, name := range []string{"share-0", "share-1", "share-2", "share-3"} {
		w.addPod(name, fixture.Limits(sharedGPU, "1"))
		w.waitOn(name, "renamed")
	}
	w.addPod("share-4", fixture.Limits(sharedGPU, "1"))
	w.waitTold("share-4", "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.shared.")
	w.deletePod("share-0")
	w.waitOn("share-4", "renamed")
	w.verdict()
}

// limitTo bounds the namespace to so much of a resource, and returns when the API server knows.
func (w *world) limitTo(name corev1.ResourceName, most string) {
	w.t.Helper()
	quotas := w.client.CoreV1().ResourceQuotas(w.ns)
	hard := corev1.ResourceList{name: resource.MustParse(most)}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "limit"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	quota, err := quotas.Create(w.t.Context(), quota, metav1.CreateOptions{})
	w.must(quota, err)
	// kube-controller-manager's word, of which there is none here; without it nothing is let in.
	quota.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{name: resource.MustParse("0")}}
	w.must(quotas.UpdateStatus(w.t.Context(), quota, metav1.UpdateOptions{}))
	w.poll("the quota is enforced", func(ctx context.Context) bool {
		beyond := fixture.Pod(w.ns, "probe", schedulerName, fixture.GPUs(1000))
		_, err := w.client.CoreV1().Pods(w.ns).Create(ctx, beyond, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err)
	})
}

// refusedAtCreation fails the test if the API server lets such a pod in.
func (w *world) refusedAtCreation(options ...fixture.PodOption) {
	w.t.Helper()
	pod := fixture.Pod(w.ns, "refused", schedulerName, options...)
	if _, err := w.client.CoreV1().Pods(w.ns).Create(w.t.Context(), pod, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		w.t.Errorf("want the pod refused at creation, got %v", err)
	}
}

func (w *world) poll(what string, until func(context.Context) bool) {
	w.t.Helper()
	done := func(ctx context.Context) (bool, error) { return until(ctx), nil }
	if err := wait.PollUntilContextTimeout(w.t.Context(), 20*time.Millisecond, waitLimit, true, done); err != nil {
		w.t.Fatalf("waiting until %s: %v", what, err)
	}
}

// TestTwoSharesFailOnTheNode: a device plugin with failRequestsGreaterThanOne rejects a pod with two shares, and unless the scheduler
// is told, a pod that says it may share is bound and fails there.
func TestTwoSharesFailOnTheNode(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("fails-two", fixture.L4, 2, fixture.Shared(fixture.L4, 2, 4)))
	w.startKubelet("fails-two", false).oneOnly.Store(true)

	w.addPod("two", fixture.GPUs(2), fixture.Annotated(sharingAnnotation, "allowed"))
	w.waitPod("two", "rejected by its node", func(p *corev1.Pod) bool { return p.Status.Reason == "UnexpectedAdmissionError" })
	w.addPod("one", fixture.GPUs(1))
	w.waitPod("one", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	w.verdict()
}

// TestFailRequestsGreaterThanOne: told so, the scheduler keeps such a pod off, and says why.
func TestFailRequestsGreaterThanOne(t *testing.T) {
	w := newWorld(t)
	startSubject(t, func(with *setup) {
		with.config += "  pluginConfig:\n  - name: GpuSharing\n    args: {failRequestsGreaterThanOne: true}\n"
	})
	w.addNode(fixture.GPUNode("one-only", fixture.L4, 2, fixture.Shared(fixture.L4, 2, 4)))
	w.startKubelet("one-only", false).oneOnly.Store(true)

	w.addPod("two", fixture.GPUs(2))
	w.waitTold("two", "0/1 nodes are available: 1 node(s) had shared GPUs, of which a pod may ask for one piece only.")
	w.addPod("two-by-name", fixture.Limits(sharedGPU, "2"))
	w.waitTold("two-by-name", "asks for 2 nvidia.com/gpu.shared: a pod may ask for one piece of a shared GPU only")
	w.addPod("one", fixture.GPUs(1))
	w.waitPod("one", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	w.addNode(fixture.GPUNode("has-two", fixture.L4, 2))
	w.waitOn("two", "has-two")
	w.verdictWithout("two-by-name")
}

// TestMemoryOfSharedGPUs: pods that state how much of a time-sliced GPU's memory they take share it as far as it suffices, also when the
// scheduler has to read from the API server which pod takes what.
func TestMemoryOfSharedGPUs(t *testing.T) {
	w := newWorld(t)
	subject := startSubject(t)
	w.addNode(fixture.GPUNode("one-l4", fixture.L4, 1, fixture.Shared(fixture.L4, 1, 8)))
	takes := func(memory string) fixture.PodOption { return fixture.Annotated("gpu-scheduler.io/gpu-memory", memory) }

	w.addPod("ten", fixture.GPUs(1), takes("10Gi"))
	w.waitOn("ten", "one-l4")
	w.addPod("another", fixture.GPUs(1), takes("10Gi"))
	w.waitOn("another", "one-l4")
	const full = "0/1 nodes are available: 1 node(s) had shared GPUs with less than 4Gi of memory left."
	w.addPod("four", fixture.GPUs(1), takes("4Gi"))
	w.waitTold("four", full)
	w.addPod("says-nothing", fixture.GPUs(1))
	w.waitOn("says-nothing", "one-l4")
	subject.kill()
	subject.start()
	w.addPod("four-more", fixture.GPUs(1), takes("4Gi"))
	w.waitTold("four-more", full)
	w.deletePod("ten")
	w.waitOn("four", "one-l4")
	w.waitOn("four-more", "one-l4")
	w.verdict()
}

// TestGKETimeSharing: GKE's device plugin serves one piece per container. A pod that asks for more gets a message, and waits for a node without
// shared GPUs.
func TestGKETimeSharing(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	gke := func(key, value string) fixture.NodeOption { return fixture.Label("cloud.google.com/gke-"+key, value) }
	w.addNode(fixture.CPUNode("gke-shared", fixture.Allocatable(fixture.GPUResource, "8"), gke("accelerator", "nvidia-l4"),
		gke("accelerator-count", "2"), gke("gpu-sharing-strategy", "time-sharing"), gke("max-shared-clients-per-gpu", "4")))

	w.addPod("two", fixture.GPUs(2), fixture.Annotated(sharingAnnotation, "allowed"))
	w.waitTold("two", "0/1 nodes are available: 1 node(s) had shared GPUs, of which a pod may ask for one piece only.")
	w.addPod("never", fixture.GPUs(1), fixture.Annotated(sharingAnnotation, "never"))
	w.waitTold("never", "0/1 nodes are available: 1 node(s) had shared GPUs, which the pod does not accept.")
	w.addPod("one", fixture.GPUs(1))
	w.waitOn("one", "gke-shared")
	w.addNode(fixture.CPUNode("gke-whole", fixture.Allocatable(fixture.GPUResource, "3"), gke("accelerator", "nvidia-l4"),
		gke("accelerator-count", "3")))
	w.waitOn("two", "gke-whole")
	w.waitOn("never", "gke-whole")
	w.verdict()
}
