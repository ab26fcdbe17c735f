package history

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	resourcehelper "k8s.io/component-helpers/resource"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// amounts of resources: milli-CPU, and whole units (bytes, devices, pods) of everything else, rounded up as the scheduler does.
type amounts map[corev1.ResourceName]int64

// requestsOf is what a pod takes from a node, itself as one of "pods" included.
func requestsOf(pod *corev1.Pod) amounts {
	list := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true,
	})
	sum := amountsOf(list)
	sum[corev1.ResourcePods] = 1
	return sum
}

func amountsOf(list corev1.ResourceList) amounts {
	sum := amounts{}
	for name, quantity := range list {
		if name == corev1.ResourceCPU {
			sum[name] = quantity.MilliValue()
		} else {
			sum[name] = quantity.Value()
		}
	}
	return sum
}

// exceed tells whether any amount is greater than the other's.
func (a amounts) exceed(other amounts) bool {
	for name, amount := range a {
		if amount > other[name] {
			return true
		}
	}
	return false
}

// overfull says which resources that the pod asks for have more taken than the node allows, with numbers; "" if none. The pod
// is among the node's pods. A resource that it does not ask for is not its fault. Where a leniency is given, it is
// the state that the scheduler may have believed in.
func overfull(n *nodeState, asked amounts, believed *belief) string {
	if n.node == nil && believed == nil {
		return "" // no node, no room to exceed: that is a matter of placement
	}
	var allocatable amounts
	if n.node != nil {
		allocatable = amountsOf(n.node.Status.Allocatable)
	}
	if believed != nil {
		allocatable = believed.allocatable
	}
	var found []string
	for name, want := range asked {
		if want == 0 {
			continue
		}
		taken := int64(0)
		for uid, p := range n.pods {
			amount := p.requests[name]
			if believed != nil {
				if before, excused := believed.usage[string(uid)]; excused {
					amount = min(amount, before[name])
				}
			}
			taken += amount
		}
		if taken > allocatable[name] {
			found = append(found, fmt.Sprintf("%s: %d taken of %d", name, taken, allocatable[name]))
		}
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}

// misplaced says why the pod should not be on the node; "" if it may. A nil node is one that does not exist.
func misplaced(node *corev1.Node, pod *corev1.Pod) string {
	if node == nil {
		return "the node does not exist"
	}
	var found []string
	taint, untolerated := schedulinghelper.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, isHard, false)
	if untolerated {
		found = append(found, fmt.Sprintf("untolerated taint %s", taint.ToString()))
	}
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if node.Spec.Unschedulable && !schedulinghelper.TolerationsTolerateTaint(klog.Background(), pod.Spec.Tolerations, &cordon, false) {
		found = append(found, "the node is unschedulable")
	}
	if match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !match {
		found = append(found, "node selector or required affinity does not match")
	}
	return strings.Join(found, ", ")
}

// isHard tells whether a taint keeps pods away that do not tolerate it.
func isHard(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// finished pods hold nothing any more.
func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func scheduledCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodScheduled {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func sameCondition(a, b *corev1.PodCondition) bool {
	return equality.Semantic.DeepEqual(a, b)
}

// told tells whether a pod carries a PodScheduled=False that speaks of its present spec.
func told(p *podState) bool {
	c := scheduledCondition(p.pod)
	if c == nil || c.Status != corev1.ConditionFalse {
		return false
	}
	if c.ObservedGeneration > 0 {
		return c.ObservedGeneration == p.pod.Generation
	}
	return p.conditionRevision >= p.specRevision
}

// sameForScheduling tells whether two versions of a node (nil: none) differ in nothing that a scheduler looks at; heartbeats do
// not count.
func sameForScheduling(a, b *corev1.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Labels, b.Labels) &&
		equality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable)
}
