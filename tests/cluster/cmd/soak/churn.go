package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	schedulerName = "gpu-scheduler"
	namespace     = "soak"
	gpusPerNode   = 8
	nodeEvery     = 2 * time.Second  // a node changes so often
	compactEvery  = 30 * time.Second // the past is forgotten so often
	impossible    = 50               // one in so many pods asks for more than any node has
)

// churn is what comes and goes. What is asked of the API server in vain (an object is gone, another one was faster) is let go: the next
// round does something else.
type churn struct {
	client kubernetes.Interface
	random *rand.Rand
	s      settings
	made   int
	alive  []livePod // oldest first
	gpus   int64     // that they ask for
}

type livePod struct {
	name string
	gpus int64
}

func newChurn(client kubernetes.Interface, s settings) *churn {
	return &churn{client: client, random: rand.New(rand.NewPCG(s.Seed, 0)), s: s}
}

func (c *churn) node(i int) *corev1.Node {
	return fixture.GPUNode(fmt.Sprintf("soak-%d", i), fixture.Models[i%len(fixture.Models)], gpusPerNode)
}

func (c *churn) makeNodes(ctx context.Context) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := c.client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	for i := range c.s.Nodes {
		if _, err := c.client.CoreV1().Nodes().Create(ctx, c.node(i), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// restoreNodes makes all nodes what they were.
func (c *churn) restoreNodes(ctx context.Context) error {
	for i := range c.s.Nodes {
		if err := c.restore(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *churn) restore(ctx context.Context, i int) error {
	original := c.node(i)
	_, err := c.client.CoreV1().Nodes().Create(ctx, original, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return c.change(ctx, original.Name, func(n *corev1.Node) { n.Spec.Unschedulable, n.Spec.Taints = false, nil })
	}
	return err
}

// run churns until ctx ends.
func (c *churn) run(ctx context.Context, cluster *controlplane.ControlPlane) error {
	pods := time.NewTicker(time.Duration(float64(time.Second) / c.s.Rate))
	nodes, compactions := time.NewTicker(nodeEvery), time.NewTicker(compactEvery)
	defer pods.Stop()
	defer nodes.Stop()
	defer compactions.Stop()
	begun := context.WithoutCancel(ctx) // what has begun when the time is over is brought to its end
	for {
		var err error
		select {
		case <-pods.C:
			err = c.podComes(begun)
		case <-nodes.C:
			err = c.nodeChanges(begun)
		case <-compactions.C:
			_, err = cluster.Compact(begun)
		case <-ctx.Done():
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// podComes makes a pod; and takes the oldest away while more is asked for than there is.
func (c *churn) podComes(ctx context.Context) error {
	p := livePod{fmt.Sprintf("pod-%07d", c.made), []int64{1, 1, 1, 2, 4}[c.random.IntN(5)]}
	asked := p.gpus
	if c.made++; c.made%impossible == 0 {
		asked, p.gpus = gpusPerNode+1, 0
	}
	pod := fixture.Pod(namespace, p.name, schedulerName, fixture.GPUs(asked))
	if _, err := c.client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	c.alive = append(c.alive, p)
	c.gpus += p.gpus
	for c.gpus > int64(c.s.Nodes*gpusPerNode) {
		oldest := c.alive[0]
		c.alive, c.gpus = c.alive[1:], c.gpus-oldest.gpus
		if err := c.remove(ctx, oldest.name); err != nil {
			return err
		}
	}
	return nil
}

func (c *churn) remove(ctx context.Context, pod string) error {
	none := int64(0)
	err := c.client.CoreV1().Pods(namespace).Delete(ctx, pod, metav1.DeleteOptions{GracePeriodSeconds: &none})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// nodeChanges cordons a node, taints it, removes it with its pods, or makes it what it was; the last as often as the others together.
func (c *churn) nodeChanges(ctx context.Context) error {
	i := c.random.IntN(c.s.Nodes)
	name := c.node(i).Name
	switch c.random.IntN(6) {
	case 0:
		return c.change(ctx, name, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	case 1:
		return c.change(ctx, name, func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{fixture.GPUTaint} })
	case 2:
		return c.removeNode(ctx, name)
	default:
		return c.restore(ctx, c.random.IntN(c.s.Nodes))
	}
}

func (c *churn) removeNode(ctx context.Context, name string) error {
	if err := c.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	bound, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + name})
	if err != nil {
		return err
	}
	for i := range bound.Items {
		if err := c.remove(ctx, bound.Items[i].Name); err != nil {
			return err
		}
	}
	return nil
}

func (c *churn) change(ctx context.Context, name string, change func(*corev1.Node)) error {
	n, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		change(n)
		_, err = c.client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
