package lockstep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gpu-scheduler.io/tests/cluster/parity"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createSteps makes the file of all steps.
func createSteps(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(folder, "steps.log"))
}

// note writes a line about the step.
func (r *run) note(format string, arguments ...any) {
	fmt.Fprintf(r.steps, "%d: %s\n", r.step, fmt.Sprintf(format, arguments...))
}

// report prints what differs about a pod, and keeps the cluster as a case for bench verdicts, with the answer of kube-scheduler's own plugins. Where that case
// shows no difference, no rule differs, but what a scheduler had in its caches.
func (r *run) report(ctx context.Context, a *asked, found []string) error {
	when := ""
	if a.while != "" {
		when = " (it waited, and " + a.while + ")"
	}
	fmt.Fprintf(r.Out, "difference: seed %d, step %d, pod %s%s\n", r.Seed, r.step, keyOf(a.wish), when)
	for _, line := range found {
		r.note("difference: %s", line)
		fmt.Fprintf(r.Out, "    %s\n", line)
	}
	c, err := r.caseOf(ctx, a)
	if err != nil {
		return err
	}
	path := filepath.Join(r.Keep, c.ID+".jsonl")
	if err := writeCase(path, c); err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "    the cluster and the pod: %s; all steps until then: %s\n", path, filepath.Join(r.Keep, "steps.log"))
	return r.sameClusters(ctx, keyOf(a.wish))
}

// caseOf is the question that both schedulers were asked.
func (r *run) caseOf(ctx context.Context, a *asked) (*parity.Case, error) {
	stored, err := r.theirs.list(ctx)
	if err != nil {
		return nil, err
	}
	c := &parity.Case{ID: fmt.Sprintf("lockstep-%d-%d", r.Seed, r.step), Nodes: stored.nodes, Namespaces: stored.namespaces, Pod: *a.theirPod.DeepCopy()}
	c.Pod.ManagedFields = nil
	for _, pod := range stored.pods {
		if pod.Spec.NodeName != "" && keyOf(&pod) != keyOf(a.wish) {
			c.Pods = append(c.Pods, pod)
		}
	}
	scheduler, err := parity.NewScheduler(ctx)
	if err != nil {
		return nil, err
	}
	scheduler.Scores = true
	c.Answer, err = scheduler.Answer(ctx, c)
	return c, err
}

func writeCase(path string, c *parity.Case) error {
	line, err := c.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(line, '\n'), 0o644)
}

// objects are all that schedulers read here, without the fields' managers.
type objects struct {
	nodes      []corev1.Node
	pods       []corev1.Pod
	namespaces []corev1.Namespace
}

func (o *side) list(ctx context.Context) (objects, error) {
	var all objects
	nodes, err := o.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return all, fmt.Errorf("%s: list nodes: %w", o.name, err)
	}
	pods, err := o.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return all, fmt.Errorf("%s: list pods: %w", o.name, err)
	}
	namespaces, err := o.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return all, fmt.Errorf("%s: list namespaces: %w", o.name, err)
	}
	all = objects{nodes.Items, pods.Items, namespaces.Items}
	for i := range all.nodes {
		all.nodes[i].ManagedFields = nil
	}
	for i := range all.pods {
		all.pods[i].ManagedFields = nil
	}
	for i := range all.namespaces {
		all.namespaces[i].ManagedFields = nil
	}
	return all, nil
}
