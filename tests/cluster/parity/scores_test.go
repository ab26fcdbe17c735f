package parity_test

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gpu-scheduler.io/tests/cluster/parity"
	"gpu-scheduler.io/tests/cluster/parity/draw"
)

func scorer(t *testing.T) *parity.Scheduler {
	t.Helper()
	scheduler, err := parity.NewScheduler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scheduler.Scores = true
	return scheduler
}

// The sums are those of kube-scheduler's framework, which does not say what they are made of.
func TestScoresAddUp(t *testing.T) {
	scheduler := scorer(t)
	seen := map[string]int{}
	for _, focus := range draw.Foci {
		for number := range 100 {
			c, err := draw.Case(5, focus, number)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := scheduler.Answer(t.Context(), c)
			if err != nil {
				continue
			}
			want, err := scheduler.Totals(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int64{}
			for node, scores := range answer.Scores {
				got[node] = 0
				for plugin, score := range scores {
					got[node] += score.Weighted
					if score.Normalized > 0 {
						seen[plugin]++
					}
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %v, want %v", c.ID, got, want)
			}
		}
	}
	for _, plugin := range []string{"TaintToleration", "NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "PodTopologySpread",
		"InterPodAffinity", "ImageLocality"} {
		if seen[plugin] == 0 {
			t.Errorf("no node got any of %s: %v", plugin, seen)
		}
	}
}

// Of two nodes one has a taint that the pod had better avoid and the label that it prefers; a third one does not fit.
func TestScoresOfACase(t *testing.T) {
	node := func(name string) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"pods": resource.MustParse("9")}}}
	}
	better, worse, closed := node("better"), node("worse"), node("closed")
	worse.Spec.Taints = []corev1.Taint{{Key: "spot", Effect: corev1.TaintEffectPreferNoSchedule}}
	worse.Labels = map[string]string{"disk": "ssd"}
	closed.Spec.Unschedulable = true
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
		{Weight: 7, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}}}}}}}
	answer, err := scorer(t).Answer(t.Context(), &parity.Case{Nodes: []corev1.Node{better, worse, closed}, Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	same := func(taints, affinity parity.Score) parity.Scores {
		return parity.Scores{"TaintToleration": taints, "NodeAffinity": affinity, "NodeResourcesFit": {}, "ImageLocality": {}}
	}
	want := map[string]parity.Scores{
		"better": same(parity.Score{Raw: 0, Normalized: 100, Weighted: 300}, parity.Score{}),
		"worse":  same(parity.Score{Raw: 1}, parity.Score{Raw: 7, Normalized: 100, Weighted: 200}),
	}
	if !reflect.DeepEqual(answer.Scores, want) {
		t.Errorf("got %+v, want %+v", answer.Scores, want)
	}
}
