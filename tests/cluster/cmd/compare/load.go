package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	gpusPerNode      = 8
	plainPodsPerNode = 100
	existingPerNode  = 100 // of the 110 that a node takes, and of its 192 CPUs
	maxShapes        = 80  // 100 pods of the largest take 179 of a node's 192 CPUs
	writers          = 32  // requests at a time for what is not measured
	probeName        = "probe"
	existingSpace    = "existing"
)

// createNodes makes nodes of eight GPUs, of several models in turn, without taints.
func createNodes(ctx context.Context, client kubernetes.Interface, count int) error {
	return inParallel(ctx, count, func(i int) error {
		node := fixture.GPUNode(nodeName(i), fixture.Models[i%len(fixture.Models)], gpusPerNode)
		_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
}

// createExisting makes plain pods that are bound from the beginning, spread over the nodes.
func (s settings) createExisting(ctx context.Context, client kubernetes.Interface) error {
	if s.Existing == 0 {
		return nil
	}
	if err := createNamespace(ctx, client, existingSpace); err != nil {
		return err
	}
	return inParallel(ctx, s.Existing, func(i int) error {
		pod := fixture.Pod(existingSpace, fmt.Sprintf("existing-%06d", i), "default-scheduler",
			fixture.Requests(corev1.ResourceCPU, "1"), fixture.Requests(corev1.ResourceMemory, "1Gi"))
		pod.Spec.NodeName = nodeName(i % s.Nodes)
		_, err := client.CoreV1().Pods(existingSpace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

func createNamespace(ctx context.Context, client kubernetes.Interface, name string) error {
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

func nodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

// pod is the i-th of those to bind: one CPU and a bit by its shape, 4 GiB (plain pods: 1 GiB), and its GPUs.
func (s settings) pod(namespace, name, scheduler string, i int) *corev1.Pod {
	cpu := resource.NewMilliQuantity(int64(1000+10*(i%s.Shapes)), resource.DecimalSI)
	options := []fixture.PodOption{fixture.Requests(corev1.ResourceCPU, cpu.String())}
	if s.GPU > 0 {
		options = append(options, fixture.Requests(corev1.ResourceMemory, "4Gi"), fixture.GPUs(s.GPU))
	} else {
		options = append(options, fixture.Requests(corev1.ResourceMemory, "1Gi"))
	}
	return fixture.Pod(namespace, name, scheduler, options...)
}

func (s settings) createPods(ctx context.Context, client kubernetes.Interface, namespace, scheduler string) error {
	return inParallel(ctx, s.Pods, func(i int) error {
		_, err := client.CoreV1().Pods(namespace).Create(ctx, s.pod(namespace, podName(i), scheduler, i), metav1.CreateOptions{})
		return err
	})
}

func podName(i int) string { return fmt.Sprintf("pod-%05d", i) }

// createPodsAt creates them at a steady rate, each at its time whether the one before has been answered or not, and returns the rate that
// came about.
func (s settings) createPodsAt(ctx context.Context, client kubernetes.Interface, namespace, scheduler string) (float64, error) {
	start := time.Now()
	failures := make(chan error, s.Pods)
	for i := range s.Pods {
		select {
		case <-time.After(time.Until(start.Add(time.Duration(float64(i) / s.OpenLoop * float64(time.Second))))):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		go func() {
			_, err := client.CoreV1().Pods(namespace).Create(ctx, s.pod(namespace, podName(i), scheduler, i), metav1.CreateOptions{})
			failures <- err
		}()
	}
	var failure error
	for range s.Pods {
		if err := <-failures; err != nil {
			failure = err
		}
	}
	return float64(s.Pods) / time.Since(start).Seconds(), failure
}

// deletePods removes every pod of the namespace, without grace.
func deletePods(ctx context.Context, client kubernetes.Interface, namespace string) error {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	none := int64(0)
	return inParallel(ctx, len(pods.Items), func(i int) error {
		return client.CoreV1().Pods(namespace).Delete(ctx, pods.Items[i].Name, metav1.DeleteOptions{GracePeriodSeconds: &none})
	})
}

// inParallel calls do with 0 to count-1, several at a time, and stops at the first failure.
func inParallel(ctx context.Context, count int, do func(int) error) error {
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
