package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDefaultSpreading: as kube-scheduler's default profile does, manifests/policies/kube-scheduler.yaml spreads the pods of a Service, and those of
// a ReplicaSet, over zones, with the rights that manifests/policies/default-spread gives. The only node of zone b is fuller than the others, so that
// nothing else would take a pod there.
func TestDefaultSpreading(t *testing.T) {
	w := newWorld(t)
	a := []string{w.addZonedNode("0", "a"), w.addZonedNode("1", "a")}
	b := w.addZonedNode("2", "b")
	w.addService("web")
	db := w.addReplicaSet("db")
	if isGPUScheduler() {
		w.mayReadWhatSelectsPods()
	}
	startSubject(t, likeKubeScheduler(t))
	w.addPod("filler", fixture.On(hostname, b), fixture.Requests("cpu", "4"))
	w.expectOn("filler", b)

	small := fixture.Requests("cpu", "500m")
	for name, options := range map[string][]fixture.PodOption{
		"web":   {small, app("web")},
		"db":    {small, app("db"), ownedBy(db)},
		"alone": {small, app("alone")},
	} {
		w.addPod(name+"-0", options...)
		w.expectOn(name+"-0", a...)
		w.addPod(name+"-1", options...)
		if name == "alone" {
			w.expectOn(name+"-1", a...) // nothing selects it
		} else {
			w.expectOn(name+"-1", b)
		}
	}
	w.verdict()
}

// likeKubeScheduler starts gpu-scheduler with the policy that is kube-scheduler's default profile. That has it anyway.
func likeKubeScheduler(t *testing.T) func(*setup) {
	t.Helper()
	return func(with *setup) {
		if !isGPUScheduler() {
			return
		}
		policy, err := os.ReadFile(filepath.Join(root, "manifests/policies/kube-scheduler.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		with.config = strings.Replace(string(policy), "schedulerName: gpu-scheduler", "schedulerName: "+schedulerName, 1)
	}
}

// mayReadWhatSelectsPods gives the scheduler's account the rights until the test ends.
func (w *world) mayReadWhatSelectsPods() {
	w.t.Helper()
	if _, err := lent(w.t).identity(); err != nil { // makes the namespace
		w.t.Fatal(err)
	}
	folder := filepath.Join(root, "manifests/policies/default-spread")
	kubectl(w.t, "apply", "-k", folder)
	w.t.Cleanup(func() { kubectl(w.t, "delete", "-k", folder) })
}

// addService makes one that selects the pods of an app.
func (w *world) addService(app string) {
	w.t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: app}, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": app}}}
	w.must(w.client.CoreV1().Services(w.ns).Create(w.t.Context(), service, metav1.CreateOptions{}))
}

// addReplicaSet makes one of the pods of an app, of which no controller makes any.
func (w *world) addReplicaSet(app string) *appsv1.ReplicaSet {
	w.t.Helper()
	labels := map[string]string{"app": app}
	template := fixture.Pod(w.ns, app, schedulerName)
	template.Labels, template.Spec.TerminationGracePeriodSeconds = labels, nil
	strange := managedFields(`{"f:\ud800":12345678901234567890123}`) // the API server passes on what a template has there
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: app}, Spec: appsv1.ReplicaSetSpec{
		Replicas: new(int32), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, ManagedFields: strange}, Spec: template.Spec}}}
	made, err := w.client.AppsV1().ReplicaSets(w.ns).Create(w.t.Context(), set, metav1.CreateOptions{})
	w.must(made, err)
	return made
}

func ownedBy(set *appsv1.ReplicaSet) fixture.PodOption {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	}
}
