package draw

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // pods have to be known to the scheme
	registry "k8s.io/kubernetes/pkg/registry/core/pod"
)

// store does to a pod what the API server does on its creation: defaults, its own changes (matchLabelKeys become part of the selectors), and
// validation. Left out are the defaults that no scheduler reads. The uid is kept.
func store(pod *corev1.Pod) (*corev1.Pod, error) {
	legacyscheme.Scheme.Default(pod)
	var internal core.Pod
	if err := legacyscheme.Scheme.Convert(pod, &internal, nil); err != nil {
		return nil, err
	}
	registry.Strategy.PrepareForCreate(context.Background(), &internal)
	if errs := registry.Strategy.Validate(context.Background(), &internal); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	var stored corev1.Pod
	if err := legacyscheme.Scheme.Convert(&internal, &stored, nil); err != nil {
		return nil, err
	}
	slim(&stored)
	return &stored, nil
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
