package lockstep

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// model is what stands before both schedulers, as far as changes have to know it.
type model struct {
	nodes []*corev1.Node // in the order of their creation, as they were drawn, but cordoned and tainted as they are now
	pods  []placed       // oldest first
}

type placed struct {
	namespace, name, node string
	terminating, finished bool
}

func (p *placed) String() string { return p.namespace + "/" + p.name }

// change is one kind of change, made at both. It says what it has done, or "" if there is nothing to do it to.
type change struct {
	name   string
	weight int
	make   func(*run, context.Context) (string, error)
}

// changes are all kinds.
func changes() []change {
	return []change{
		{"a pod is deleted", 6, (*run).deletePod},
		{"a pod begins to end", 2, (*run).terminatePod},
		{"a pod has finished", 2, (*run).finishPod},
		{"a pod is relabelled", 2, (*run).relabelPod},
		{"a pod is resized", 1, (*run).resizePod},
		{"a node comes", 2, (*run).moreNodes},
		{"a node goes", 1, (*run).removeNode},
		{"a node is cordoned or uncordoned", 2, (*run).cordonNode},
		{"a node's taints change", 2, (*run).taintNode},
		{"a node is relabelled", 2, (*run).relabelNode},
		{"a node is resized", 2, (*run).resizeNode},
		{"a node has other images", 1, (*run).imagesOfNode},
		{"a namespace is relabelled", 1, (*run).relabelNamespace},
	}
}

// openings are kinds that may let a pod start.
func openings() []change {
	return []change{
		{"a pod is deleted", 4, (*run).deletePod},
		{"a pod has finished", 2, (*run).finishPod},
		{"a pod is relabelled", 2, (*run).relabelPod},
		{"a node comes", 3, (*run).moreNodes},
		{"a node is uncordoned", 4, (*run).uncordonNode},
		{"a node's taints go", 4, (*run).untaintNode},
		{"a node is relabelled", 3, (*run).relabelNode},
		{"a node is resized", 3, (*run).resizeNode},
		{"a namespace is relabelled", 1, (*run).relabelNamespace},
	}
}

const (
	podsPerNode = 4  // about as many stay on the cluster
	twins       = .4 // so many of the nodes that come are made as one that is there, so that scores tie
)

// churn makes a few changes, and deletes pods while there are too many.
func (r *run) churn(ctx context.Context) error {
	for range r.random.IntN(3) {
		what, err := r.change(ctx, changes())
		if err != nil {
			return err
		}
		r.note("%s", what)
	}
	for len(r.model.pods) > podsPerNode*len(r.model.nodes) {
		what, err := r.deletePod(ctx)
		if err != nil {
			return err
		}
		r.note("%s", what)
	}
	return nil
}

// change makes one of them that there is something for.
func (r *run) change(ctx context.Context, all []change) (string, error) {
	sum := 0
	for _, c := range all {
		sum += c.weight
	}
	for {
		at := r.random.IntN(sum)
		i := 0
		for ; at >= all[i].weight; i++ {
			at -= all[i].weight
		}
		what, err := all[i].make(r, ctx)
		if what == "" && err == nil {
			continue
		}
		r.figures.Changes[all[i].name]++
		return what, err
	}
}

// anyPod is one that has a node and suits; nil if there is none.
func (r *run) anyPod(suits func(*placed) bool) *placed {
	var some []*placed
	for i := range r.model.pods {
		if suits(&r.model.pods[i]) {
			some = append(some, &r.model.pods[i])
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[r.random.IntN(len(some))]
}

func anything(*placed) bool { return true }
func runs(p *placed) bool   { return !p.finished && !p.terminating }

// anyNode is one that suits; nil if there is none.
func (r *run) anyNode(suits func(*corev1.Node) bool) *corev1.Node {
	var some []*corev1.Node
	for _, node := range r.model.nodes {
		if suits(node) {
			some = append(some, node)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[r.random.IntN(len(some))]
}

func anyNode(*corev1.Node) bool { return true }

func (r *run) deletePod(ctx context.Context) (string, error) {
	pod := r.anyPod(anything)
	if pod == nil {
		return "", nil
	}
	return r.dropPod(ctx, *pod)
}

func (r *run) dropPod(ctx context.Context, pod placed) (string, error) {
	r.model.pods = slices.DeleteFunc(r.model.pods, func(p placed) bool { return p.namespace == pod.namespace && p.name == pod.name })
	return "pod " + pod.String() + " is deleted", r.both(func(o *side) error { return o.remove(ctx, pod.namespace, pod.name) })
}

// terminatePod leaves it there with a deletion timestamp, as no kubelet ends it.
func (r *run) terminatePod(ctx context.Context) (string, error) {
	pod := r.anyPod(runs)
	if pod == nil {
		return "", nil
	}
	pod.terminating = true
	return "pod " + pod.String() + " begins to end", r.both(func(o *side) error {
		return o.client.CoreV1().Pods(pod.namespace).Delete(ctx, pod.name, *metav1.NewDeleteOptions(3600))
	})
}

func (r *run) finishPod(ctx context.Context) (string, error) {
	pod := r.anyPod(func(p *placed) bool { return !p.finished })
	if pod == nil {
		return "", nil
	}
	pod.finished = true
	phase := []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}[r.random.IntN(2)]
	return fmt.Sprintf("pod %v has %s", pod, strings.ToLower(string(phase))), r.both(func(o *side) error {
		return o.patchPod(ctx, pod.namespace, pod.name, []operation{{"add", "/status/phase", phase}}, "status")
	})
}

func (r *run) relabelPod(ctx context.Context) (string, error) {
	pod := r.anyPod(runs)
	if pod == nil {
		return "", nil
	}
	labels := r.draw.Labels()
	return fmt.Sprintf("pod %v has labels %v", pod, labels), r.both(func(o *side) error {
		return o.patchPod(ctx, pod.namespace, pod.name, []operation{{"add", "/metadata/labels", labels}})
	})
}

// resizePod has the kubelet that there is not say what the first container has got.
func (r *run) resizePod(ctx context.Context) (string, error) {
	pod := r.anyPod(runs)
	if pod == nil {
		return "", nil
	}
	has := corev1.ResourceList{"cpu": resource.MustParse([]string{"100m", "1", "4"}[r.random.IntN(3)]), "memory": resource.MustParse([]string{"128Mi", "4Gi"}[r.random.IntN(2)])}
	status := []corev1.ContainerStatus{{Name: "c0", AllocatedResources: has, Resources: &corev1.ResourceRequirements{Requests: has}}}
	return fmt.Sprintf("pod %v has %v cpu and %v memory", pod, has.Cpu(), has.Memory()), r.both(func(o *side) error {
		return o.patchPod(ctx, pod.namespace, pod.name, []operation{{"add", "/status/containerStatuses", status}}, "status")
	})
}

func (r *run) moreNodes(ctx context.Context) (string, error) {
	if len(r.model.nodes) >= r.Nodes*3/2 {
		return "", nil
	}
	return r.makeNode(ctx)
}

// makeNode takes the lowest number that is free, so that nodes come back under names that were there, sometimes with pods on them.
func (r *run) makeNode(ctx context.Context) (string, error) {
	number := 0
	for r.hasNode(nodeName(number)) {
		number++
	}
	node := r.draw.Node(nodeName(number))
	if like := r.anyNode(anyNode); like != nil && r.random.Float64() < twins {
		node.Status, node.Spec.Taints = *like.Status.DeepCopy(), like.Spec.Taints
		for key, value := range like.Labels {
			if key != corev1.LabelHostname && node.Labels != nil {
				node.Labels[key] = value
			}
		}
	}
	r.model.nodes = append(r.model.nodes, &node)
	r.unseen, r.unheard = true, true
	return "node " + node.Name + " comes", r.both(func(o *side) error {
		_, err := o.client.CoreV1().Nodes().Create(ctx, &node, metav1.CreateOptions{})
		return o.patched(err, "node "+node.Name)
	})
}

func nodeName(number int) string { return fmt.Sprintf("node-%d", number) }

func (r *run) hasNode(name string) bool {
	return slices.ContainsFunc(r.model.nodes, func(n *corev1.Node) bool { return n.Name == name })
}

// removeNode leaves its pods there every other time, as they are until a controller collects them.
func (r *run) removeNode(ctx context.Context) (string, error) {
	node := r.anyNode(anyNode)
	if node == nil || len(r.model.nodes) <= r.Nodes/2 {
		return "", nil
	}
	r.model.nodes = slices.DeleteFunc(r.model.nodes, func(n *corev1.Node) bool { return n == node })
	r.unseen, r.unheard = true, true
	what := "node " + node.Name + " goes"
	err := r.both(func(o *side) error {
		return o.patched(o.client.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{}), "node "+node.Name)
	})
	if err != nil || r.random.IntN(2) == 0 {
		return what, err
	}
	for _, pod := range slices.Clone(r.model.pods) {
		if pod.node == node.Name {
			if _, err := r.dropPod(ctx, pod); err != nil {
				return what, err
			}
		}
	}
	return what + " with its pods", nil
}

// onNode patches any node.
func (r *run) onNode(ctx context.Context, what string, subresource []string, patch func(*corev1.Node) operation) (string, error) {
	return r.onNodeThat(ctx, anyNode, what, subresource, patch)
}

// onNodeThat patches any node that suits.
func (r *run) onNodeThat(ctx context.Context, suits func(*corev1.Node) bool, what string, subresource []string,
	patch func(*corev1.Node) operation) (string, error) {
	node := r.anyNode(suits)
	if node == nil {
		return "", nil
	}
	operations := []operation{patch(node)}
	r.unseen = true
	return fmt.Sprintf("node %s %s: %s", node.Name, what, encode(operations)), r.both(func(o *side) error {
		return o.patchNode(ctx, node.Name, operations, subresource...)
	})
}

var ofStatus = []string{"status"}

func (r *run) cordonNode(ctx context.Context) (string, error) {
	return r.onNode(ctx, "is cordoned or not", nil, func(node *corev1.Node) operation {
		node.Spec.Unschedulable = !node.Spec.Unschedulable
		return operation{"add", "/spec/unschedulable", node.Spec.Unschedulable}
	})
}

func (r *run) taintNode(ctx context.Context) (string, error) {
	return r.onNode(ctx, "has taints", nil, func(node *corev1.Node) operation {
		node.Spec.Taints = r.draw.Node(node.Name).Spec.Taints
		if node.Spec.Taints == nil {
			node.Spec.Taints = []corev1.Taint{}
		}
		return operation{"add", "/spec/taints", node.Spec.Taints}
	})
}

func (r *run) uncordonNode(ctx context.Context) (string, error) {
	cordoned := func(node *corev1.Node) bool { return node.Spec.Unschedulable }
	return r.onNodeThat(ctx, cordoned, "is uncordoned", nil, func(node *corev1.Node) operation {
		node.Spec.Unschedulable = false
		return operation{"add", "/spec/unschedulable", false}
	})
}

func (r *run) untaintNode(ctx context.Context) (string, error) {
	tainted := func(node *corev1.Node) bool { return len(node.Spec.Taints) > 0 }
	return r.onNodeThat(ctx, tainted, "has no taints any more", nil, func(node *corev1.Node) operation {
		node.Spec.Taints = []corev1.Taint{}
		return operation{"add", "/spec/taints", node.Spec.Taints}
	})
}

func (r *run) relabelNode(ctx context.Context) (string, error) {
	return r.onNode(ctx, "has labels", nil, func(node *corev1.Node) operation {
		labels := maps.Clone(r.draw.Node(node.Name).Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		return operation{"add", "/metadata/labels", labels}
	})
}

func (r *run) resizeNode(ctx context.Context) (string, error) {
	return r.onNode(ctx, "has", ofStatus, func(node *corev1.Node) operation {
		return operation{"add", "/status/allocatable", r.draw.Node(node.Name).Status.Allocatable}
	})
}

func (r *run) imagesOfNode(ctx context.Context) (string, error) {
	r.unheard = true
	return r.onNode(ctx, "has images", ofStatus, func(node *corev1.Node) operation {
		images := r.draw.Node(node.Name).Status.Images
		if images == nil {
			images = []corev1.ContainerImage{}
		}
		return operation{"add", "/status/images", images}
	})
}

func (r *run) relabelNamespace(ctx context.Context) (string, error) {
	all := r.draw.Namespaces()
	namespace := all[r.random.IntN(len(all))]
	labels := []operation{{"add", "/metadata/labels", namespace.Labels}}
	r.unseen = true
	return fmt.Sprintf("namespace %s has labels %v", namespace.Name, namespace.Labels), r.both(func(o *side) error {
		return o.patchNamespace(ctx, namespace.Name, labels)
	})
}
