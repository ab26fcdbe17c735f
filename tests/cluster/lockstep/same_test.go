package lockstep

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFirstDifference(t *testing.T) {
	cluster := func(changes ...func(*objects)) map[string]string {
		made := objects{nodes: []corev1.Node{*barrierNode()}, pods: []corev1.Pod{*anchor(), *barrierPod("waits")},
			namespaces: []corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: barrier}}}}
		for _, change := range changes {
			change(&made)
		}
		return essence(made, barrier+"/left-out")
	}
	for _, c := range []struct {
		name   string
		change func(*objects)
		want   string // what it is about; empty: nothing
	}{
		{"nothing", func(*objects) {}, ""},
		{"who has stored it", func(o *objects) { o.nodes[0].UID, o.nodes[0].ResourceVersion = "u", "7" }, ""},
		{"a pod that waits is gone", func(o *objects) { o.pods = o.pods[:1] }, ""},
		{"a pod that is left out", func(o *objects) { o.pods[1].Name, o.pods[1].Spec.NodeName = "left-out", "a" }, ""},
		{"a node is cordoned", func(o *objects) { o.nodes[0].Spec.Unschedulable = true }, "node " + barrier},
		{"a node is missing", func(o *objects) { o.nodes = nil }, "node " + barrier},
		{"a pod is elsewhere", func(o *objects) { o.pods[0].Spec.NodeName = "a" }, "pod " + barrier + "/anchor"},
		{"a pod ends", func(o *objects) { o.pods[0].DeletionTimestamp = &metav1.Time{} }, "pod " + barrier + "/anchor"},
		{"a namespace is labelled", func(o *objects) { o.namespaces[0].Labels = map[string]string{"tier": "gold"} }, "namespace " + barrier},
	} {
		for _, got := range []string{firstDifference(cluster(), cluster(c.change)), firstDifference(cluster(c.change), cluster())} {
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
		}
	}
}
