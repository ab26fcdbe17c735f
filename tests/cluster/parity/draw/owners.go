package draw

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"gpu-scheduler.io/tests/cluster/parity"
)

// selecting are the Services and controllers of a namespace. Of those that pods name as their owners some are missing.
func (d *drawer) selecting(c *parity.Case, namespace string) {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: namespace} }
	for i := range d.IntN(4) {
		service := corev1.Service{ObjectMeta: meta(fmt.Sprintf("service-%d", i))}
		if !d.chance(.1) {
			service.Spec.Selector = d.plainSelector()
		}
		c.Services = append(c.Services, service)
	}
	if d.chance(.7) {
		c.ReplicationControllers = append(c.ReplicationControllers,
			corev1.ReplicationController{ObjectMeta: meta("owner"), Spec: corev1.ReplicationControllerSpec{Selector: d.plainSelector()}})
	}
	if d.chance(.85) {
		c.ReplicaSets = append(c.ReplicaSets, appsv1.ReplicaSet{ObjectMeta: meta("owner"), Spec: appsv1.ReplicaSetSpec{Selector: d.selector()}})
	}
	if d.chance(.7) {
		c.StatefulSets = append(c.StatefulSets, appsv1.StatefulSet{ObjectMeta: meta("owner"), Spec: appsv1.StatefulSetSpec{Selector: d.selector()}})
	}
}

// plainSelector is one without expressions, which seldom is empty.
func (d *drawer) plainSelector() map[string]string {
	if d.chance(.05) {
		return map[string]string{}
	}
	selector := map[string]string{}
	if d.chance(.8) {
		selector["app"] = d.pick("train", "train", "serve", "etl")
	}
	if len(selector) == 0 || d.chance(.2) {
		selector["job"] = d.pick("j1", "j2", "")
	}
	return selector
}

// owner of a pod: one of the controllers above, or of a kind that says nothing here.
func (d *drawer) owner(pod *corev1.Pod) {
	kinds := []metav1.TypeMeta{{APIVersion: "apps/v1", Kind: "ReplicaSet"}, {APIVersion: "apps/v1", Kind: "ReplicaSet"},
		{APIVersion: "apps/v1", Kind: "StatefulSet"}, {APIVersion: "v1", Kind: "ReplicationController"}, {APIVersion: "batch/v1", Kind: "Job"},
		{APIVersion: "apps/v1beta2", Kind: "ReplicaSet"}}
	for i := range 1 + d.IntN(8)/7 {
		kind, controls := kinds[d.IntN(len(kinds))], i == 0 && !d.chance(.05)
		pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{APIVersion: kind.APIVersion, Kind: kind.Kind, Name: "owner",
			UID: types.UID(fmt.Sprintf("uid-%s-%d", kind.Kind, i)), Controller: &controls})
	}
	d.Shuffle(len(pod.OwnerReferences), func(i, j int) {
		pod.OwnerReferences[i], pod.OwnerReferences[j] = pod.OwnerReferences[j], pod.OwnerReferences[i]
	})
}
