package draw

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gpu-scheduler.io/tests/cluster/parity"
)

// began is when the first pods on nodes started.
var began = time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC)

// pressing gives the pending pod a priority above that of some pods.
func (d *drawer) pressing(pod *corev1.Pod) {
	priority := []int32{0, 10, 100, 1000, 1000, 5000}[d.IntN(6)]
	pod.Spec.Priority = &priority
}

// evictable makes a pod on a node one that may be evicted. No two start at the same time: kube-scheduler would choose any of them.
func (d *drawer) evictable(pod *corev1.Pod, started int) {
	priority := []int32{-5, 0, 0, 10, 10, 100, 1000}[d.IntN(7)]
	pod.Spec.Priority = &priority
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = nil, nil
	if pod.Status.Phase == corev1.PodPending {
		pod.Status.Phase = corev1.PodRunning
	}
	start := metav1.NewTime(began.Add(time.Duration(started) * time.Minute))
	pod.Status.StartTime = &start
}

// oneHolder leaves each host port of a node, and each claim that is for one pod, to the first pod that has it. kube-scheduler takes either for
// free when one of two holders goes.
func (d *drawer) oneHolder(c *parity.Case, pod *corev1.Pod) {
	pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
		source := volume.PersistentVolumeClaim
		if source == nil || !isForOnePod(c, pod.Namespace, source.ClaimName) {
			return false
		}
		claim := pod.Namespace + "/" + source.ClaimName
		taken := d.held[claim]
		d.held[claim] = true
		return taken
	})
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for j := range containers[i].Ports {
				port := &containers[i].Ports[j]
				at := fmt.Sprintf("%s %d", pod.Spec.NodeName, port.HostPort)
				if d.held[at] {
					port.HostPort, port.HostIP = 0, ""
				}
				d.held[at] = true
			}
		}
	}
}

func isForOnePod(c *parity.Case, namespace, name string) bool {
	return slices.ContainsFunc(c.Claims, func(claim corev1.PersistentVolumeClaim) bool {
		return claim.Namespace == namespace && claim.Name == name && slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod)
	})
}

// budgets draws some of the namespace of the pending pod, and of another.
func (d *drawer) budgets(pending string) []policyv1.PodDisruptionBudget {
	var all []policyv1.PodDisruptionBudget
	for i := range d.IntN(4) {
		namespace := pending
		if d.chance(.25) {
			namespace = d.pick("ml", "team-a", "default")
		}
		budget := policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("budget-%d", i), Namespace: namespace}}
		budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": d.pick("train", "serve", "etl")}}
		if d.chance(.3) {
			budget.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "job", Operator: metav1.LabelSelectorOpIn, Values: []string{d.pick("j1", "j2")}}}}
		}
		budget.Status.DisruptionsAllowed = int32(d.IntN(3)) //nolint:gosec // below 3
		if d.chance(.2) {
			budget.Status.DisruptedPods = map[string]metav1.Time{fmt.Sprintf("run-%d", d.IntN(10)): deleted}
		}
		all = append(all, budget)
	}
	return all
}
