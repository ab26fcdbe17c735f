package e2e

import (
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The annotations by which a pod says which GPU it wants.
const (
	typeAnnotation    = "gpu-scheduler.io/gpu-type"
	memoryAnnotation  = "gpu-scheduler.io/min-gpu-memory"
	computeAnnotation = "gpu-scheduler.io/min-compute-capability"
	sharingAnnotation = "gpu-scheduler.io/sharing"
	profileAnnotation = "gpu-scheduler.io/mig-profile"
)

// TestGPUTypes: annotations choose among types, the first listed first; what no node has is told with what there is instead.
func TestGPUTypes(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("types-h100", fixture.H100, 1))
	w.addNode(fixture.GPUNode("types-a100", fixture.A100, 2))
	w.addNode(fixture.GPUNode("types-l4", fixture.L4, 8))

	ordered := fixture.Annotated(typeAnnotation, "H100,A100-80GB")
	w.addPod("first", fixture.GPUs(1), ordered)
	w.waitOn("first", "types-h100")
	w.addPod("second", fixture.GPUs(1), ordered)
	w.waitOn("second", "types-a100")
	w.addPod("large", fixture.GPUs(1), fixture.Annotated(memoryAnnotation, "40Gi"))
	w.waitOn("large", "types-a100")
	w.addPod("old", fixture.GPUs(1), fixture.Annotated(computeAnnotation, "9.0"))
	w.waitTold("old", "node(s) had no GPU of compute capability 9.0", "first types-l4: NVIDIA-L4: 8.9")
	w.addPod("third", fixture.GPUs(1), ordered)
	w.waitTold("third", "0/3 nodes are available: 1 node(s) had no GPU of type H100, A100-80GB, 2 Insufficient nvidia.com/gpu.")

	w.addPod("typo", fixture.GPUs(1), fixture.Annotated(typeAnnotation, "L5"))
	w.waitTold("typo", "No node has a GPU of type L5; the nearest are L4: NVIDIA-L4 (1 node)")
	w.addPod("nonsense", fixture.GPUs(1), fixture.Annotated(memoryAnnotation, "lots"))
	w.waitTold("nonsense", `0/3 nodes are available: gpu-scheduler.io/min-gpu-memory: "lots" is not an amount of memory, such as 40Gi.`)
	w.annotate("typo", typeAnnotation, "L4")
	w.waitOn("typo", "types-l4")
	w.annotate("nonsense", memoryAnnotation, "20Gi")
	w.waitOn("nonsense", "types-l4")
	w.verdictWithout("old", "third")
}

// TestSharedGPUs: which pods may get a piece of a shared GPU.
func TestSharedGPUs(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("sharing-whole", fixture.L4, 1))
	w.addNode(fixture.GPUNode("sharing-sliced", fixture.L4, 2, fixture.Shared(fixture.L4, 2, 4)))

	w.addPod("says-nothing", fixture.GPUs(1))
	w.waitOn("says-nothing", "sharing-whole")
	w.addPod("never", fixture.GPUs(1), fixture.Annotated(sharingAnnotation, "never"))
	w.waitTold("never", "1 Insufficient nvidia.com/gpu, 1 node(s) had shared GPUs, which the pod does not accept.", "time-slicing, 4 pieces to a GPU")
	w.addPod("required", fixture.GPUs(1), fixture.Annotated(sharingAnnotation, "required"))
	w.waitOn("required", "sharing-sliced")
	w.deletePod("says-nothing")
	w.waitOn("never", "sharing-whole")
	w.verdict()
}

// TestMIGInstances: resources of the strategy mixed, and nvidia.com/gpu that are instances under single.
func TestMIGInstances(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	const mig = corev1.ResourceName("nvidia.com/mig-3g.40gb")
	mixed := fixture.Label("nvidia.com/mig.strategy", "mixed")
	w.addNode(fixture.GPUNode("mig-partitioned", fixture.A100, 0, mixed, fixture.Allocatable(mig, "1")))
	w.addNode(fixture.GPUNode("mig-whole", fixture.H100, 8, mixed))
	w.addNode(fixture.GPUNode("mig-single", fixture.A100, 7, fixture.Label("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"),
		fixture.Label("nvidia.com/gpu.memory", "9984")))
	w.addNode(fixture.GPUNode("mig-l4", fixture.L4, 8))

	w.addPod("first", fixture.Limits(mig, "1"))
	w.waitOn("first", "mig-partitioned")
	w.addPod("second", fixture.Limits(mig, "1"))
	w.waitTold("second", "0/4 nodes are available: 4 Insufficient nvidia.com/mig-3g.40gb.",
		"nvidia.com/mig-3g.40gb: 1 node has it, but not enough free (mig-partitioned); 1 could hold it after a repartition (mig-whole); "+
			"1 could after a repartition, and with mig.strategy mixed (mig-single); 1 never can (1 NVIDIA-L4).")
	w.deletePod("first")
	w.waitOn("second", "mig-partitioned")

	w.addPod("seventh", fixture.GPUs(1), fixture.Annotated(profileAnnotation, "1g.10gb"))
	w.waitOn("seventh", "mig-single")
	w.addPod("sixteen", fixture.GPUs(16))
	w.waitTold("sixteen", "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.")
	w.addPod("whole", fixture.GPUs(8))
	if on := w.waitPod("whole", "bound", bound).Spec.NodeName; on != "mig-whole" && on != "mig-l4" {
		t.Errorf("whole is on %q", on)
	}
	w.addPod("whole-too", fixture.GPUs(8))
	w.waitPod("whole-too", "bound", bound)
	w.addPod("one-more", fixture.GPUs(1))
	w.waitTold("one-more", "1 node(s) had MIG instances as nvidia.com/gpu, and the pod names no such profile",
		"annotation gpu-scheduler.io/mig-profile: 1g.10gb asks for one")
	w.verdictWithout("one-more", "sixteen")
}

// TestSeveralProfilesInOnePod: containers of one pod ask for instances of different profiles, and get them on one node.
func TestSeveralProfilesInOnePod(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	const large, small = corev1.ResourceName("nvidia.com/mig-3g.40gb"), corev1.ResourceName("nvidia.com/mig-1g.10gb")
	mixed := fixture.Label("nvidia.com/mig.strategy", "mixed")
	none := fixture.Allocatable(fixture.GPUResource, "0")
	w.addNode(fixture.GPUNode("several-small", fixture.A100, 1, mixed, none, fixture.Allocatable(small, "7")))
	w.addNode(fixture.GPUNode("several-balanced", fixture.A100, 1, mixed, none, fixture.Allocatable(large, "1"), fixture.Allocatable(small, "2")))
	twoContainers := func(p *corev1.Pod) {
		second := *p.Spec.Containers[0].DeepCopy()
		second.Name = "second"
		fixture.Limits(large, "1")(p)
		p.Spec.Containers = append(p.Spec.Containers, second)
		amounts := p.Spec.Containers[1].Resources
		amounts.Limits[small], amounts.Requests[small] = resource.MustParse("2"), resource.MustParse("2")
	}

	w.addPod("first", twoContainers)
	w.waitOn("first", "several-balanced")
	w.addPod("second", twoContainers)
	w.waitTold("second", "0/2 nodes are available: 1 Insufficient nvidia.com/mig-1g.10gb, 2 Insufficient nvidia.com/mig-3g.40gb.", "nvidia.com/mig-3g.40gb: 1 node has it, but not enough free (several-balanced)",
		"nvidia.com/mig-1g.10gb: 1 node has it, but not enough free (several-balanced)")
	w.deletePod("first")
	w.waitOn("second", "several-balanced")
	w.verdict()
}

// TestWrongGPULabels: a node with labels that contradict each other is still used, with caution, and the contradiction is reported.
func TestWrongGPULabels(t *testing.T) {
	w := newWorld(t)
	s := startSubject(t)
	w.addNode(fixture.GPUNode("labels-mixed", fixture.L4, 4, fixture.Allocatable(fixture.GPUResource, "8")))
	w.addNode(fixture.GPUNode("labels-odd", fixture.L4, 4, fixture.Label("nvidia.com/gpu.memory", "plenty")))

	w.addPod("typed", fixture.GPUs(4), fixture.Annotated(typeAnnotation, "L4"))
	w.waitOn("typed", "labels-odd")
	w.addPod("any", fixture.GPUs(4))
	w.waitOn("any", "labels-mixed")
	w.addPod("typed-too", fixture.GPUs(4), fixture.Annotated(typeAnnotation, "L4"))
	w.waitTold("typed-too", "1 Insufficient nvidia.com/gpu, 1 node(s) had GPUs of several types.")
	for _, line := range []string{
		"it offers 8 pieces of GPUs, but has 4 NVIDIA-L4 with 1 to each: GPUs of several models",
		`label nvidia.com/gpu.memory: \"plenty\" is not a whole number`,
	} {
		until(t, "word of a wrong label", func() bool { return strings.Contains(s.log(), line) })
		if times := strings.Count(s.log(), line); times != 1 {
			t.Errorf("the log says %d times, and should once: %s", times, line)
		}
	}
	w.verdictWithout("typed-too")
}

// waitOn waits until a pod is bound, and fails the test if it is not where it should be.
func (w *world) waitOn(name, node string) {
	w.t.Helper()
	if p := w.waitPod(name, "bound", bound); p.Spec.NodeName != node {
		w.t.Errorf("%s is on %q, and should be on %q", name, p.Spec.NodeName, node)
	}
}

// waitTold waits until a pod's condition says all of these.
func (w *world) waitTold(name string, texts ...string) {
	w.t.Helper()
	w.waitPod(name, "told "+strings.Join(texts, " and "), func(p *corev1.Pod) bool {
		c := condition(p)
		if c == nil || c.Status != corev1.ConditionFalse {
			return false
		}
		for _, text := range texts {
			if !strings.Contains(c.Message, text) {
				return false
			}
		}
		return true
	})
}

// verdictWithout takes away pods that wait for what their annotations ask for, which the judge, knowing amounts alone, calls lost.
func (w *world) verdictWithout(waiting ...string) {
	w.t.Helper()
	for _, name := range waiting {
		w.deletePod(name)
	}
	w.verdict()
}

// annotate changes an annotation of a pod.
func (w *world) annotate(name, key, value string) {
	w.t.Helper()
	pods := w.client.CoreV1().Pods(w.ns)
	p, err := pods.Get(w.t.Context(), name, metav1.GetOptions{})
	w.must(p, err)
	p.Annotations[key] = value
	w.must(pods.Update(w.t.Context(), p, metav1.UpdateOptions{}))
}
