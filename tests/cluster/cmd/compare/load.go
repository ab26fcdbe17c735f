package main

import (
	"context"
	"fmt"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/internal/load"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	plainPodsPerNode = 100
	existingPerNode  = 100 // of the 110 that a node takes, and of its 192 CPUs
	maxShapes        = 80  // 100 pods of the largest take 179 of a node's 192 CPUs
	probeName        = "probe"
	existingSpace    = "existing"
)

// createExisting makes plain pods that are bound from the beginning, spread over the nodes.
func (s settings) createExisting(ctx context.Context, client kubernetes.Interface) error {
	if s.Existing == 0 {
		return nil
	}
	if err := load.CreateNamespace(ctx, client, existingSpace); err != nil {
		return err
	}
	return load.InParallel(ctx, s.Existing, func(i int) error {
		pod := fixture.Pod(existingSpace, fmt.Sprintf("existing-%06d", i), "default-scheduler",
			fixture.Requests(corev1.ResourceCPU, "1"), fixture.Requests(corev1.ResourceMemory, "1Gi"))
		pod.Spec.NodeName = load.NodeName(i % s.Nodes)
		_, err := client.CoreV1().Pods(existingSpace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

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
	return load.InParallel(ctx, s.Pods, func(i int) error {
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
	return load.InParallel(ctx, len(pods.Items), func(i int) error {
		return client.CoreV1().Pods(namespace).Delete(ctx, pods.Items[i].Name, metav1.DeleteOptions{GracePeriodSeconds: &none})
	})
}
