package lockstep

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// twins: so many of the nodes that come are made as one that is there, so that scores tie.
const twins = .5

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
	r.unseen, r.imagesChanged = true, true
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
	r.unseen, r.imagesChanged = true, true
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
	r.imagesChanged = true
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
