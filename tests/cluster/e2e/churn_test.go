package e2e

import (
	"fmt"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestNodesChangeUnderneath changes nodes and pods at random while pods are being placed: nodes are deleted with their pods and come back,
// lose the label that pods select, lose GPUs, get the taint, are cordoned; pods are deleted and finish. What the
// scheduler could not have known when it bound is explained by the history; all else is its fault. In the end every node is
// as it was, and every pod has to find its place.
func TestNodesChangeUnderneath(t *testing.T) {
	w := newWorld(t)
	nodes := w.addGPUNodes(8)
	w.allowForLateness()
	s := startSubject(t)
	c := &churn{w: w, nodes: nodes}
	for range sizes.steps {
		c.step()
	}
	c.restore()
	s.check()
	w.verdict(explained(sizes.steps/4, history.NodeChange))
	binds := w.boundSoFar()
	t.Logf("%d pods made in %d steps, %d binds", c.made, sizes.steps, binds)
	if binds < sizes.steps/4 {
		t.Errorf("only %d binds in %d steps: this tested little", binds, sizes.steps)
	}
}

// churn is the random walk of TestNodesChangeUnderneath.
type churn struct {
	w     *world
	nodes []*corev1.Node // as they were made
	made  int
}

// step makes a few pods and does one thing to a node and one to a pod. It then waits until something has been bound or refused, so
// that the walk goes at the scheduler's pace.
func (c *churn) step() {
	w := c.w
	first := c.made
	for range 1 + w.random.IntN(3) {
		w.addPod(fmt.Sprintf("pod-%d", c.made), fixture.GPUs(1+w.random.Int64N(4)))
		c.made++
	}
	c.changeNode(c.nodes[w.random.IntN(len(c.nodes))])
	running := w.boundPods()
	for range w.random.IntN(4) {
		if len(running) > 0 {
			c.endPod(running[w.random.IntN(len(running))])
		}
	}
	w.waitPodOrGone(fmt.Sprintf("pod-%d", first), func(p *corev1.Pod) bool { return bound(p) || condition(p) != nil })
}

func (c *churn) changeNode(original *corev1.Node) {
	w, name := c.w, original.Name
	switch w.random.IntN(6) {
	case 0:
		w.removeNode(name)
	case 1:
		w.changeNode(name, func(n *corev1.Node) { n.Labels[poolLabel] = "elsewhere" })
	case 2:
		w.changeNode(name, func(n *corev1.Node) { n.Status.Allocatable[fixture.GPUResource] = resource.MustParse("4") })
	case 3:
		w.changeNode(name, func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{fixture.GPUTaint} })
	case 4:
		w.changeNode(name, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	case 5:
		w.putBack(original)
	}
}

// endPod deletes a bound pod, or lets it finish where it runs.
func (c *churn) endPod(name string) {
	w := c.w
	if w.random.IntN(2) == 0 {
		w.deletePod(name)
		return
	}
	p, err := w.client.CoreV1().Pods(w.ns).Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return // deleted a moment ago, in this very step
	}
	p.Status.Phase = corev1.PodSucceeded
	_, _ = w.client.CoreV1().Pods(w.ns).UpdateStatus(w.t.Context(), p, metav1.UpdateOptions{}) // it may just have been deleted
}

// restore makes all nodes what they were.
func (c *churn) restore() {
	for _, n := range c.nodes {
		c.w.putBack(n)
	}
}

// removeNode deletes a node and, as the garbage collector would, the pods on it.
func (w *world) removeNode(name string) {
	w.t.Helper()
	if err := w.client.CoreV1().Nodes().Delete(w.t.Context(), name, noGrace()); err != nil {
		return // it is gone already
	}
	for _, pod := range w.podsOn(name) {
		w.deletePod(pod)
	}
}

// putBack makes a node what it was, whether it is still there or not.
func (w *world) putBack(original *corev1.Node) {
	w.t.Helper()
	if _, err := w.client.CoreV1().Nodes().Create(w.t.Context(), original, metav1.CreateOptions{}); err == nil {
		return
	}
	w.changeNode(original.Name, func(n *corev1.Node) {
		n.Labels, n.Spec.Taints, n.Spec.Unschedulable = original.Labels, nil, false
		n.Status.Allocatable = original.Status.Allocatable
	})
}

// waitPodOrGone waits for a condition of a pod that may be deleted meanwhile.
func (w *world) waitPodOrGone(name string, condition func(*corev1.Pod) bool) {
	w.t.Helper()
	w.catchUp() // else "not there" might mean "not seen yet"
	w.waitFor("pod "+name, func(j *history.Judge) bool {
		p := j.Pod(w.ns + "/" + name)
		return p == nil || condition(p)
	})
}

// TestBesideKubeScheduler lets kube-scheduler fill the same nodes at the same time. Over-commits are then possible by Kubernetes' own
// rules; ours must each be explained by a bind of its that we could not have seen yet.
func TestBesideKubeScheduler(t *testing.T) {
	w := newWorld(t)
	nodes := max(4, sizes.pods/20)
	w.addGPUNodes(nodes)
	w.allowForLateness()
	startSubject(t)
	other, err := w.cluster.StartKubeScheduler(t.Context(), controlplane.SchedulerOptions{})
	w.must(nil, err)
	defer other.Stop()
	// Both must be at work before the race, or one has the nodes for itself.
	w.addPod("first", fixture.GPUs(1))
	w.waitPod("first", "bound", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })

	before := w.recorder.Report()
	w.parallel(sizes.pods, func(i int) {
		scheduler := schedulerName
		if i%2 == 1 {
			scheduler = "default-scheduler"
		}
		w.addPodOf(scheduler, fmt.Sprintf("pod-%d", i), fixture.GPUs(1))
	})
	report := w.verdict(othersBind(sizes.pods/2+1), explained(sizes.pods/4, history.ForeignBind))
	if report.Binds == before.Binds || report.ForeignBinds == before.ForeignBinds {
		t.Error("one of the two bound nothing: there was no race")
	}
	t.Logf("%d binds of ours, %d over-commits explained; %d foreign binds, %d over-commits of theirs",
		report.Binds-before.Binds, report.Explained, report.ForeignBinds-before.ForeignBinds, report.ForeignOverCommits-before.ForeignOverCommits)
}

func noGrace() metav1.DeleteOptions {
	none := int64(0)
	return metav1.DeleteOptions{GracePeriodSeconds: &none}
}
