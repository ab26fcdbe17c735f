package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

// TestReclaim: a pod within its quota's guarantee gets the GPUs back that were lent, though those who have borrowed them have a higher
// priority: as many as were borrowed, from the pod that runs for the shortest time. They are told why, and do not come back by eviction.
func TestReclaim(t *testing.T) {
	w := newWorld(t)
	high := w.addPriorityClass("high", 1000)
	w.mayPreempt()
	startSubject(t, reclaiming)
	nodes := w.addGPUNodes(2)
	borrower := w.beside(w.ns + "-borrower")
	cohort := object{"cohort": "reclaim"}
	w.addQuota("reclaim-owner", w.anyType("8", cohort))
	borrower.addQuota("reclaim-borrower", borrower.anyType("8", cohort))
	set := borrower.addReplicaSet("train")
	for i := range 2 {
		name := fmt.Sprintf("train-%d", i)
		borrower.addPod(name, fixture.GPUs(8), fixture.On(hostname, nodes[i].Name), ofClass(high), ownedBy(set), withGrace(3600))
		borrower.waitPod(name, "bound", bound)
	}

	w.addPod("owner", fixture.GPUs(8))
	w.waitTold("owner", "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: found a potential placement for pod on node ",
		", preempting 1 victims")
	leaving := func() (names []string) {
		return borrower.podsThat(func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	}
	until(t, "a victim", func() bool { return len(leaving()) == 1 })
	victim := leaving()[0]
	p := borrower.waitPod(victim, "there", func(*corev1.Pod) bool { return true })
	at := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
	if at < 0 {
		t.Fatalf("%s has no condition DisruptionTarget", victim)
	}
	c := p.Status.Conditions[at]
	if want := schedulerName + ": reclaiming GPUs that its quota has borrowed"; c.Reason != corev1.PodReasonPreemptionByScheduler || c.Message != want {
		t.Errorf("condition %+v", c)
	}
	e := borrower.waitEvent(victim, "Preempted")
	if !strings.HasSuffix(e.Note, " on node "+p.Spec.NodeName+", to reclaim GPUs that its quota has borrowed") {
		t.Errorf("event %q", e.Note)
	}
	borrower.deletePod(victim)
	w.expectOn("owner", p.Spec.NodeName)

	// The controller of the victim makes it anew: it waits.
	borrower.addPod("train-again", fixture.GPUs(8), ofClass(high), ownedBy(set))
	borrower.waitOverQuota("train-again", "quota reclaim-borrower: * needs 8, 8 of 16 in use")
	if names := slices.Concat(leaving(), w.podsThat(func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })); len(names) > 0 {
		t.Errorf("evicted: %v", names)
	}
	borrower.deletePod("train-again")
	w.verdict(of(borrower))
}

// reclaiming lets the profile's pods take back what their quotas lend.
func reclaiming(with *setup) {
	preempting(with)
	with.config += "  pluginConfig: [{name: DefaultPreemption, args: {reclaimWithinCohort: Any}}]\n"
}
