package history

import (
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// roomSearch looks for nodes that would take pods that wait, at one revision.
type roomSearch struct {
	judge    *Judge
	sum      account   // of what is used of all quotas; nil until it is asked for
	standing *standing // of all pods; nil until it is asked for
}

// find names a node that would take a pending pod by all the rules judged here, or "". Pods with constraints that are not judged here are left
// alone, and those that a quota in strict order lets wait behind another.
func (s *roomSearch) find(p *podState) string {
	if p.pod.DeletionTimestamp != nil || len(p.pod.Spec.SchedulingGates) > 0 || constrainedOtherwise(p.pod) || s.mayWaitBehindAnother(p) {
		return ""
	}
	if s.standing == nil {
		s.standing = s.judge.standing()
	}
	across := s.standing.ask(p, doubt{})
	var names []string
	for name, n := range s.judge.nodes {
		if n.node != nil && misplaced(n.node, p.pod) == "" && len(across.breaches(n.node)) == 0 && s.fits(p, n) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// onTrial stands for the uid of the pod that is being tried.
const onTrial = "?"

// fits tries a pod on a node, and takes it off again.
func (s *roomSearch) fits(p *podState, n *nodeState) bool {
	n.pods[onTrial] = p
	defer delete(n.pods, onTrial)
	return overfull(n, p.requests, nil) == "" && s.withinQuota(p, n)
}

func (s *roomSearch) withinQuota(p *podState, n *nodeState) bool {
	book := s.judge.book
	q, line, amount := book.chargeOf(p, n)
	if q == nil {
		return true
	}
	if s.sum == nil {
		s.sum = book.account(s.judge.nodes, map[string]bool{onTrial: true})
	}
	s.sum.charge(q.Name, line, amount)
	defer s.sum.charge(q.Name, line, new(big.Rat).Neg(amount))
	return book.objection(p, n, s.sum) == ""
}

// mayWaitBehindAnother returns whether a pod's quota has strict order and another of its pods may be before this one: it has a higher priority,
// or the same and is no younger. Why that one waits does not matter. The first in line waits for no other.
func (s *roomSearch) mayWaitBehindAnother(p *podState) bool {
	quota := s.judge.book.of(p.pod.Namespace)
	if quota == nil || quota.Spec.Order != "Strict" || !asksForGPUs(p.requests) {
		return false
	}
	for _, other := range s.judge.waiting {
		if other != p && asksForGPUs(other.requests) && s.judge.book.of(other.pod.Namespace) == quota && !goesAfter(other.pod, p.pod) {
			return true
		}
	}
	return false
}

// goesAfter returns whether a pod is certainly behind another in the line of their quota. For two that were created in the same second it is unknown.
func goesAfter(pod, other *corev1.Pod) bool {
	if a, b := priority(pod), priority(other); a != b {
		return a < b
	}
	return pod.CreationTimestamp.After(other.CreationTimestamp.Time)
}

func priority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// constrainedOtherwise tells whether a pod has constraints that this package does not judge.
func constrainedOtherwise(pod *corev1.Pod) bool {
	if len(pod.Spec.ResourceClaims) > 0 {
		return true
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil || volume.Ephemeral != nil {
			return true
		}
	}
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.HostPort != 0 {
				return true
			}
		}
	}
	return false
}
