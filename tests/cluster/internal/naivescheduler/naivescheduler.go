// Package naivescheduler is a stand-in for a scheduler, to prove the harness and the checker with: it binds pods to the first node
// with enough free GPUs, one at a time, and understands nothing else.
//
// Nor does the honest one have to, where there is nothing else. Careless ones do wrong on purpose, each in a way of its own (Options), or are
// put where there is a rule that they do not know, a quota or a cordon. The checker must pass the first and catch the others. Nothing
// outside tests has a use for it.
package naivescheduler

import (
	"context"
	"fmt"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Options of Run.
type Options struct {
	Name string // the schedulerName it answers to
	// Careless forgets what was bound in this round, as it trusts a list of pods that is taken once a round: it gives a GPU to several pods.
	Careless bool
	// Overlooks is the name of a pod that it never notices.
	Overlooks string
	// Greedy schedules the pods of all schedulers.
	Greedy bool
}

// Run schedules until ctx ends.
func Run(ctx context.Context, client kubernetes.Interface, options Options) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if err := round(ctx, client, options); err != nil && ctx.Err() == nil {
			return fmt.Errorf("naive scheduler: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// round lists everything and binds, or refuses, each pending pod.
func round(ctx context.Context, client kubernetes.Interface, options Options) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	free := map[string]int64{}
	for _, n := range nodes.Items {
		free[n.Name] = n.Status.Allocatable.Name(fixture.GPUResource, "").Value()
	}
	for i := range pods.Items {
		free[pods.Items[i].Spec.NodeName] -= gpus(&pods.Items[i])
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if !options.mine(p) || p.Spec.NodeName != "" {
			continue
		}
		node := firstFit(nodes.Items, free, p)
		if node == "" {
			err = refuse(ctx, client, p)
		} else {
			err = bind(ctx, client, p, node)
			if !options.Careless {
				free[node] -= gpus(p)
			}
		}
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

func (o Options) mine(p *corev1.Pod) bool {
	return p.Name != o.Overlooks && (o.Greedy || p.Spec.SchedulerName == o.Name)
}

func firstFit(nodes []corev1.Node, free map[string]int64, p *corev1.Pod) string {
	for i := range nodes {
		if free[nodes[i].Name] >= gpus(p) && matches(nodes[i].Labels, p.Spec.NodeSelector) {
			return nodes[i].Name
		}
	}
	return ""
}

func matches(labels, selector map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

func gpus(p *corev1.Pod) int64 {
	return p.Spec.Containers[0].Resources.Requests.Name(fixture.GPUResource, "").Value()
}

func bind(ctx context.Context, client kubernetes.Interface, p *corev1.Pod, node string) error {
	return client.CoreV1().Pods(p.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
}

// refuse says once that the pod does not fit.
func refuse(ctx context.Context, client kubernetes.Interface, p *corev1.Pod) error {
	if len(p.Status.Conditions) > 0 {
		return nil
	}
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "no node has as many free GPUs", ObservedGeneration: p.Generation,
	}}
	_, err := client.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
	return err
}
