package lockstep

import (
	"context"

	corev1 "k8s.io/api/core/v1"
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

// podsPerNode is about as many pods as stay on the cluster for each node.
const podsPerNode = 4

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
