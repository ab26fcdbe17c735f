package draw

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"gpu-scheduler.io/tests/cluster/parity/stored"
)

// Live draws objects for a cluster that lives on, before an API server and schedulers that run: the same vocabulary as that of cases, with
// another focus for each pod. Left out is what such a cluster cannot have, or what schedulers are known to answer differently:
//
//   - volumes, which need controllers;
//   - amounts of a million million and more, of which kube-scheduler's products wrap around;
//   - images of one name with several sizes: kube-scheduler's cache goes by the size that it heard of first.
//
// The same seed gives the same sequence of objects.
type Live struct{ d *drawer }

// liveFoci are what the pods stress, a focus each.
var liveFoci = []string{"resources", "gpu", "taints", "affinity", "ports", "spread", "interpod", "preferences", "mixed", "combined"}

// liveNodes are the rates of nodes, which all foci share there.
var liveNodes = rates{scarce: .5, tainted: .25, cordoned: .06, unlabelled: .08}

// NewLive begins the sequence of the seed.
func NewLive(seed uint64) *Live {
	return &Live{&drawer{Rand: rand.New(rand.NewPCG(seed, 0x6c697665))}}
}

// Namespaces are all that pods may have. Only their tier label is drawn.
func (l *Live) Namespaces() []corev1.Namespace {
	for {
		if all := l.d.namespaces(); len(all) == 4 {
			return all
		}
	}
}

// Node draws one as it would be created.
func (l *Live) Node(name string) corev1.Node {
	l.d.rates = liveNodes
	l.d.small = l.d.chance(l.d.scarce)
	node := l.d.node(name)
	for i := range node.Status.Images {
		node.Status.Images[i].SizeBytes = sizeOf(node.Status.Images[i].Names[0])
	}
	return node
}

// sizeOf is the one size of an image.
func sizeOf(image string) int64 {
	sum := fnv.New32a()
	fmt.Fprint(sum, image)
	return []int64{24 << 20, 300 << 20, 999 << 20, 2 << 30}[sum.Sum32()%4]
}

// Pod draws a pending one as a user would create it, and the API server take it.
func (l *Live) Pod(name string) (corev1.Pod, error) {
	focus := foci[l.d.pick(liveFoci...)]
	focus.volumes, focus.huge, focus.unlabelled = 0, 0, 0
	l.d.rates = focus
	namespace := l.d.pick("ml", "ml", "team-a", "default", "bare")
	var refused error
	for range 50 {
		pod := l.d.wish(name, namespace, true)
		pod.UID, pod.Spec.NodeName = "", ""
		if _, refused = stored.Pod(&pod); refused == nil {
			return pod, nil
		}
	}
	return corev1.Pod{}, fmt.Errorf("draw: fifty pods in a row that the API server would refuse, the last: %w", refused)
}

// Labels draws those of a pod.
func (l *Live) Labels() map[string]string { return l.d.labels() }
