package lockstep

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// barrier is the name of a node and of a namespace, and the label that says what they are.
	barrier = "lockstep-barrier"
	// stepLabel is raised at both when what came before is to be seen.
	stepLabel = "lockstep/step"
)

// barrierNode takes the pods of the barrier and, tainted as it is, few others. It has no label that the vocabulary of package draw has, so that no rule of another
// pod reaches it.
func barrierNode() *corev1.Node {
	allocatable := corev1.ResourceList{"pods": resource.MustParse("1000"), "cpu": resource.MustParse("1000"), "memory": resource.MustParse("1Ti")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: barrier, Labels: map[string]string{barrier: "yes"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: barrier, Effect: corev1.TaintEffectNoSchedule}}},
		Status:     corev1.NodeStatus{Allocatable: allocatable, Capacity: allocatable},
	}
}

// anchor is the pod that those of the barrier are to be with, by their affinity.
func anchor() *corev1.Pod {
	pod := barrierPod("anchor")
	pod.Labels = map[string]string{barrier: "anchor"}
	pod.Spec.NodeName = barrier
	return pod
}

func barrierPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: barrier},
		Spec: corev1.PodSpec{
			SchedulerName: schedulerName, PriorityClassName: lowest,
			Containers:  []corev1.Container{{Name: "c", Image: "registry.example/barrier:1"}},
			Tolerations: []corev1.Toleration{{Key: barrier, Operator: corev1.TolerationOpExists}},
		},
	}
}

// probe is a pod that only a scheduler can place that has seen the node's and the namespace's label of that step. The watch of pods it has seen up to this pod.
func probe(step, try int) *corev1.Pod {
	pod := barrierPod(fmt.Sprintf("probe-%d-%d", step, try))
	value := fmt.Sprint(step)
	pod.Spec.NodeSelector = map[string]string{stepLabel: value}
	pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{barrier: "anchor"}},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{stepLabel: value}},
		TopologyKey:       barrier,
	}}}}
	return pod
}

// passBarrier returns when both schedulers have seen all that was changed before.
func (r *run) passBarrier(ctx context.Context) error {
	if r.imagesChanged {
		if err := r.heartbeats(ctx); err != nil {
			return err
		}
	}
	r.barriers++
	label := []operation{{"add", "/metadata/labels/lockstep~1step", fmt.Sprint(r.barriers)}}
	err := r.both(func(o *side) error {
		if err := o.patchNode(ctx, barrier, label); err != nil {
			return err
		}
		if err := o.patchNamespace(ctx, barrier, label); err != nil {
			return err
		}
		return o.passBarrier(ctx, r.barriers)
	})
	r.unseen = false
	return err
}

// heartbeats writes the status of each node, as kubelets do all the time. kube-scheduler learns by it how many nodes have an image: what ImageLocality reads
// of a node is as of the last change of that node.
func (r *run) heartbeats(ctx context.Context) error {
	beat := []operation{{"add", "/status/conditions/0/lastHeartbeatTime", metav1.NewTime(time.Unix(int64(r.barriers), 0).UTC())}}
	r.imagesChanged = false
	return r.both(func(o *side) error {
		beats := make(chan error, len(r.model.nodes))
		for _, node := range r.model.nodes {
			go func() { beats <- o.patchNode(ctx, node.Name, beat, ofStatus...) }()
		}
		var err error
		for range r.model.nodes {
			err = errors.Join(err, <-beats)
		}
		return err
	})
}

// passBarrier makes probes until one is bound. One that came too early is not waited for: a scheduler need not try it again for the sake of a namespace.
func (o *side) passBarrier(ctx context.Context, step int) error {
	for try, end := 0, time.Now().Add(2*patience); ; try++ {
		pod, err := o.create(ctx, probe(step, try))
		if err != nil {
			return err
		}
		answer, err := o.await(ctx, pod, answered)
		if err != nil {
			return err
		}
		if err := o.remove(ctx, pod.Namespace, pod.Name); err != nil {
			return err
		}
		if answer.Node != "" {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s has not seen the change of a node and a namespace: pod %s: %v", o.name, keyOf(pod), answer)
		}
	}
}
