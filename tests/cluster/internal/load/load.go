// Package load makes the nodes and namespaces of a large cluster, for programs that measure.
package load

import (
	"context"
	"fmt"
	"sync"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// GPUsPerNode is what each node offers.
	GPUsPerNode = 8
	writers     = 32 // requests at a time
)

// NodeName is the i-th node's.
func NodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

// CreateNodes makes nodes of eight GPUs, of several models in turn, without taints.
func CreateNodes(ctx context.Context, client kubernetes.Interface, count int) error {
	return InParallel(ctx, count, func(i int) error {
		node := fixture.GPUNode(NodeName(i), fixture.Models[i%len(fixture.Models)], GPUsPerNode)
		_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
}

// CreateNamespace makes one.
func CreateNamespace(ctx context.Context, client kubernetes.Interface, name string) error {
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

// InParallel calls do with 0 to count-1, several at a time, and stops at the first failure.
func InParallel(ctx context.Context, count int, do func(int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var group sync.WaitGroup
	for range min(writers, count) {
		group.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for i := range count {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}
