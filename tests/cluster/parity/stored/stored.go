// Package stored makes objects what the API server makes of them: by its own defaulting, changes on creation, and validation.
package stored

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // pods have to be known to the scheme
	"k8s.io/kubernetes/pkg/apis/core/validation"
	registry "k8s.io/kubernetes/pkg/registry/core/pod"
)

// A gate that is off by default in 1.36 and without which a feature that kubelet declares cannot be asked for.
func init() {
	if err := utilfeature.DefaultMutableFeatureGate.Set("UserNamespacesHostNetworkSupport=true"); err != nil {
		panic(err)
	}
}

// Pod gives the pod as it is stored on creation: matchLabelKeys, for one, become part of the selectors. Left out are the defaults that no
// scheduler reads. An error is what the API server refuses it with.
func Pod(created *corev1.Pod) (*corev1.Pod, error) {
	var internal core.Pod
	if err := defaulted(created.DeepCopy(), &internal); err != nil {
		return nil, err
	}
	registry.Strategy.PrepareForCreate(context.Background(), &internal)
	if err := registry.Strategy.Validate(context.Background(), &internal).ToAggregate(); err != nil {
		return nil, err
	}
	var pod corev1.Pod
	if err := legacyscheme.Scheme.Convert(&internal, &pod, nil); err != nil {
		return nil, err
	}
	slim(&pod)
	return &pod, nil
}

// CheckPod says what is wrong with a pod that is said to be stored.
func CheckPod(pod *corev1.Pod) error {
	copied := pod.DeepCopy()
	copied.DeletionTimestamp, copied.DeletionGracePeriodSeconds = nil, nil
	var internal core.Pod
	if err := defaulted(copied, &internal); err != nil {
		return err
	}
	return registry.Strategy.Validate(context.Background(), &internal).ToAggregate()
}

// CheckNode says what is wrong with a node that is said to be stored.
func CheckNode(node *corev1.Node) error {
	var internal core.Node
	if err := defaulted(node.DeepCopy(), &internal); err != nil {
		return err
	}
	return validation.ValidateNode(&internal).ToAggregate()
}

func defaulted(object, internal runtime.Object) error {
	legacyscheme.Scheme.Default(object)
	return legacyscheme.Scheme.Convert(object, internal, nil)
}

func slim(pod *corev1.Pod) {
	pod.Generation = 0
	pod.Status.QOSClass = ""
	spec := &pod.Spec
	spec.DNSPolicy, spec.SchedulerName, spec.SecurityContext, spec.EnableServiceLinks = "", "", nil, nil
	spec.DeprecatedServiceAccount, spec.ServiceAccountName, spec.TerminationGracePeriodSeconds = "", "", nil
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			containers[i].TerminationMessagePath, containers[i].TerminationMessagePolicy = "", ""
			containers[i].ImagePullPolicy = ""
		}
	}
}
