package e2e

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPlacesAndExplains is a user's first hour: a pod that runs, one that waits and says why, and what lets it go on.
func TestPlacesAndExplains(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("explain-h100", fixture.H100, 1))

	w.addPod("first", fixture.GPUs(1))
	first := w.waitPod("first", "bound", bound)
	if first.Spec.NodeName != "explain-h100" {
		t.Errorf("first is on %q", first.Spec.NodeName)
	}
	if c := condition(first); c == nil || c.Status != corev1.ConditionTrue {
		t.Errorf("first's PodScheduled is %v", c)
	}
	if e := w.waitEvent("first", "Scheduled"); e.Type != corev1.EventTypeNormal || e.Note != "Successfully assigned "+w.ns+"/first to explain-h100" {
		t.Errorf("Scheduled event: %s %q", e.Type, e.Note)
	}

	w.addPod("second", fixture.GPUs(1))
	w.waitRefused("second", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
	w.deletePod("first")
	w.waitPod("second", "bound where first was", bound)

	w.addPod("third", fixture.GPUs(1))
	w.waitRefused("third", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
	w.addNode(fixture.GPUNode("explain-l4", fixture.L4, 1))
	if third := w.waitPod("third", "bound to the new node", bound); third.Spec.NodeName != "explain-l4" {
		t.Errorf("third is on %q", third.Spec.NodeName)
	}
	w.verdict()
}

// TestKubectlShowsWhereAPodIsAndWhyOneWaits reads what a user sees of a pod that has a node, and of one that was tried twice and waits: in `kubectl describe pod` and in
// `kubectl get events`.
func TestKubectlShowsWhereAPodIsAndWhyOneWaits(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("another scheduler has other words")
	}
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("shown-h100", fixture.H100, 2))
	w.addNode(fixture.GPUNode("shown-tainted", fixture.A100, 8, fixture.Tainted()))
	w.addPod("placed", fixture.GPUs(2))
	w.waitPod("placed", "bound", bound)
	const why = "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint(s). nvidia.com/gpu: needs 2 on one node; most free is 0 of 2 (shown-h100);"
	w.addPod("waits", fixture.GPUs(2))
	w.waitRefused("waits", why)
	// A toleration of another taint has the pod tried again, with the same answer.
	kubectl(t, "-n", w.ns, "patch", "pod", "waits", "--type=json", "-p", `[{"op":"add","path":"/spec/tolerations/-","value":{"key":"another","operator":"Exists"}}]`)

	const age = "[0-9]+[smh][0-9smh]*"
	assigned, refused := "Successfully assigned "+w.ns+"/placed to shown-h100\n", regexp.QuoteMeta(why)+".*\n"
	described, listed := `(?m)^Events:\n  Type +Reason +Age +From +Message\n[ -]+\n`, `^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE *\n`
	w.shows([]string{`(?m)^Node: +shown-h100/`, `(?m)^  PodScheduled +True`, described + `  Normal +Scheduled +` + age + ` +gpu-scheduler +` + assigned}, "describe", "pod", "placed")
	w.shows([]string{listed + age + ` +Normal +Scheduled +pod/placed +` + assigned + "$"}, "get", "events", "--field-selector", "involvedObject.name=placed")
	// That it came twice is written ten seconds after the first time.
	w.shows([]string{`(?m)^Node: +<none>`, `(?m)^  PodScheduled +False`,
		described + `  Warning +FailedScheduling +` + age + ` \(x2 over ` + age + `\) +gpu-scheduler +` + refused}, "describe", "pod", "waits")
	w.shows([]string{listed + age + ` +Warning +FailedScheduling +pod/waits +` + refused + "$"}, "get", "events", "--field-selector", "involvedObject.name=waits")
	w.shows([]string{` +pod/waits +gpu-scheduler, .*` + age + ` +2 +waits\.[0-9a-f]+ *\n$`}, "get", "events", "--field-selector", "involvedObject.name=waits", "-o", "wide")
	w.verdict()
}

// shows waits until kubectl shows all of this in the world's namespace.
func (w *world) shows(patterns []string, args ...string) {
	w.t.Helper()
	var shown string
	for deadline := time.Now().Add(waitLimit); ; time.Sleep(100 * time.Millisecond) {
		shown = kubectl(w.t, append([]string{"-n", w.ns}, args...)...)
		missing := slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return regexp.MustCompile(p).MatchString(shown) })
		if len(missing) == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("kubectl %v shows, without %q:\n%s", args, missing, shown)
		}
	}
}

// TestKeepsPodsOffNodesThatAreNotForThem goes through the reasons in the words of kube-scheduler.
func TestKeepsPodsOffNodesThatAreNotForThem(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("rules-tainted", fixture.A100, 8, fixture.Tainted()))
	w.addNode(fixture.CPUNode("rules-cpu"))
	w.addNode(fixture.GPUNode("rules-cordoned", fixture.H100, 8, func(n *corev1.Node) { n.Spec.Unschedulable = true }))

	w.addPod("wants-gpu", fixture.GPUs(1))
	w.waitRefused("wants-gpu", "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.")
	w.addPod("tolerates", fixture.GPUs(1), fixture.ToleratesGPUTaint())
	if p := w.waitPod("tolerates", "bound", bound); p.Spec.NodeName != "rules-tainted" {
		t.Errorf("tolerates is on %q", p.Spec.NodeName)
	}
	w.addPod("wants-l4", fixture.GPUs(1), fixture.On("nvidia.com/gpu.product", fixture.L4.Product))
	w.waitRefused("wants-l4", "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.")
	w.addPod("no-gpu", fixture.Requests("cpu", "1"))
	if p := w.waitPod("no-gpu", "bound", bound); p.Spec.NodeName != "rules-cpu" {
		t.Errorf("no-gpu is on %q", p.Spec.NodeName)
	}

	w.changeNode("rules-cordoned", func(n *corev1.Node) { n.Spec.Unschedulable = false })
	w.waitPod("wants-gpu", "bound to the node that was uncordoned", bound)
	w.changeNode("rules-cordoned", func(n *corev1.Node) { n.Labels["nvidia.com/gpu.product"] = fixture.L4.Product })
	w.waitPod("wants-l4", "bound to the node that was relabelled", bound)
	w.verdict()
}

// TestLateRefusalOfABoundPod has another client bind a pod while the scheduler's message that it fits nowhere is being sent: the message must not be
// left on a bound pod.
func TestLateRefusalOfABoundPod(t *testing.T) {
	w := newWorld(t)
	network := newRelay(t)
	goOn := network.holdStatuses()
	t.Cleanup(goOn)
	startSubject(t, func(with *setup) { with.kubeconfig = network.kubeconfig(with.kubeconfig) })
	w.addPod("late", fixture.GPUs(1))
	until(t, "a refusal to be on its way", func() bool { return len(network.heldStatuses()) > 0 })
	network.late(3 * time.Second) // the other one is first
	w.addGPUNodes(1)
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Target: corev1.ObjectReference{Kind: "Node", Name: w.ns + "-0"}}
	w.must(nil, w.client.CoreV1().Pods(w.ns).Bind(t.Context(), binding, metav1.CreateOptions{}))
	goOn()
	until(t, "the refusal to be answered", func() bool { return !slices.Contains(network.heldStatuses(), 0) })
	network.late(0)
	if answers := network.heldStatuses(); !slices.Equal(answers, []int{http.StatusConflict}) {
		t.Errorf("the refusal was answered with %d, want 409 alone", answers)
	}
	w.catchUp()
	p := w.waitPod("late", "bound", bound)
	if c := condition(p); c == nil || c.Status != corev1.ConditionTrue {
		t.Errorf("the pod is bound, and says %v", c)
	}
	w.addPod("next", fixture.GPUs(1))
	w.waitPod("next", "bound", bound)
	w.verdict()
}

// waitRefused waits until a pod says in its condition and in an event that it cannot be placed, and why. The reason is what
// kube-scheduler would say, up to what it adds about preemption.
func (w *world) waitRefused(name, message string) {
	w.t.Helper()
	p := w.waitPod(name, "refused with "+message, func(p *corev1.Pod) bool {
		c := condition(p)
		return c != nil && c.Status == corev1.ConditionFalse && strings.HasPrefix(c.Message, message)
	})
	if c := condition(p); c.Reason != corev1.PodReasonUnschedulable {
		w.t.Errorf("%s: reason %q", name, c.Reason)
	}
	if e := w.waitEvent(name, "FailedScheduling"); e.Type != corev1.EventTypeWarning || !strings.HasPrefix(e.Note, "0/") {
		w.t.Errorf("FailedScheduling event of %s: %s %q", name, e.Type, e.Note)
	}
}

// waitEvent waits for an event about a pod.
func (w *world) waitEvent(pod, reason string) *eventsv1.Event {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	watch, err := w.client.EventsV1().Events(w.ns).Watch(ctx, metav1.ListOptions{}) // begins with those that exist
	if err != nil {
		w.t.Fatal(err)
	}
	defer watch.Stop()
	for change := range watch.ResultChan() {
		if e, ok := change.Object.(*eventsv1.Event); ok && e.Regarding.Name == pod && e.Reason == reason {
			if e.ReportingController != schedulerName {
				w.t.Errorf("%s event of %s: reportingController %q", reason, pod, e.ReportingController)
			}
			return e
		}
	}
	w.t.Fatalf("no %s event about %s", reason, pod)
	return nil
}

func condition(p *corev1.Pod) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == corev1.PodScheduled {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}
