package draw

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"gpu-scheduler.io/tests/cluster/parity/stored"
)

// deleted is when pods that are being deleted were told so.
var deleted = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

// pod draws one as the API server would store it. The vocabulary makes some that it would refuse; those are drawn again.
func (d *drawer) pod(name, namespace string, pending bool) corev1.Pod {
	var refused error
	for range 50 {
		pod := d.wish(name, namespace, pending)
		made, err := stored.Pod(&pod)
		if err == nil {
			// Before 1.34 the API server did not merge the matchLabelKeys of spread constraints into their selectors.
			if d.chance(.2) {
				made.Spec.TopologySpreadConstraints = pod.Spec.TopologySpreadConstraints
			}
			return *made
		}
		refused = err
	}
	if d.err == nil {
		d.err = fmt.Errorf("draw: fifty pods in a row that the API server would refuse, the last: %w", refused)
	}
	return corev1.Pod{}
}

// wish is a pod as a user would create it.
func (d *drawer) wish(name, namespace string, pending bool) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID("uid-" + namespace + "-" + name), Labels: d.labels()}}
	for i := range 1 + d.IntN(2) {
		pod.Spec.Containers = append(pod.Spec.Containers, d.container(fmt.Sprintf("c%d", i), pending))
	}
	if d.chance(.15) {
		for i := range 1 + d.IntN(2) {
			container := d.container(fmt.Sprintf("i%d", i), pending)
			if d.chance(.5) {
				container.Ports = nil // else they are a sidecar's, or count for nothing
			}
			if d.chance(.5) {
				always := corev1.ContainerRestartPolicyAlways
				container.RestartPolicy = &always
			}
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
		}
	}
	if d.chance(.08) {
		pod.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse(d.pick("100m", "250m")), "memory": resource.MustParse("120Mi")}
		if d.chance(.3) {
			pod.Spec.Overhead[corev1.ResourceName(d.pick("ephemeral-storage", "nvidia.com/gpu"))] = resource.MustParse("1")
		}
	}
	if d.chance(.06) {
		pod.Spec.Resources = d.resourcesOfPod()
	}
	if d.chance(d.tolerations) {
		pod.Spec.Tolerations = d.someTolerations()
	}
	if d.chance(d.features) {
		d.needFeatures(&pod)
	}
	if d.chance(d.owned) {
		d.owner(&pod)
	}
	affinity := &corev1.Affinity{}
	if pending {
		d.nodeRules(&pod, affinity)
		d.spreadConstraints(&pod)
		if d.chance(.02) {
			pod.Spec.NodeName = d.pick("node-0", "node-1", "gone")
		}
	}
	d.podRules(affinity)
	if affinity.NodeAffinity != nil || affinity.PodAffinity != nil || affinity.PodAntiAffinity != nil {
		pod.Spec.Affinity = affinity
	}
	d.mount(&pod)
	return pod
}

// resourcesOfPod are of a pod as a whole: requests, or limits from which they follow, of CPU, memory or both.
func (d *drawer) resourcesOfPod() *corev1.ResourceRequirements {
	list := corev1.ResourceList{}
	which := d.IntN(4)
	if which != 1 {
		list["cpu"] = resource.MustParse(d.pick("2", "4", "8"))
	}
	if which != 2 {
		list["memory"] = resource.MustParse(d.pick("1Gi", "8Gi"))
	}
	if d.chance(.25) {
		return &corev1.ResourceRequirements{Limits: list}
	}
	return &corev1.ResourceRequirements{Requests: list}
}

// needFeatures has the pod ask for something that kubelet has to declare, or for nearly that.
func (d *drawer) needFeatures(pod *corev1.Pod) {
	if d.chance(.5) {
		of := pod.Spec.Containers
		if len(pod.Spec.InitContainers) > 0 && d.chance(.5) {
			of = pod.Spec.InitContainers
		}
		container := &of[d.IntN(len(of))]
		never := corev1.ContainerRestartPolicyNever
		container.RestartPolicy = &never
		container.RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleAction(d.pick("RestartAllContainers", "RestartAllContainers", "Restart")),
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}}}}
	}
	if d.chance(.6) {
		users := d.chance(.2)
		pod.Spec.HostUsers = &users
	}
	if d.chance(.6) {
		pod.Spec.HostNetwork = true
		for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range containers {
				containers[i].Ports = nil
			}
		}
	}
}

func (d *drawer) labels() map[string]string {
	labels := map[string]string{}
	if !d.chance(.08) {
		labels["app"] = d.pick("train", "train", "serve", "etl")
	}
	if d.chance(.5) {
		labels["job"] = d.pick("j1", "j2", "")
	}
	if d.chance(.3) {
		labels["pod-template-hash"] = d.pick("h1", "h2")
	}
	return labels
}

func (d *drawer) container(name string, pending bool) corev1.Container {
	container := corev1.Container{Name: name, Image: d.pick(images...)}
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	if d.chance(.8) {
		requests["cpu"] = d.quantity("0", "100m", "500m", "1", "1500m", "2", "2001m", "100e-3", "4", "0.5")
	}
	if d.chance(.7) {
		requests["memory"] = d.quantity("0", "128Mi", "500M", "1Gi", "2G", "1536Mi", "4e9", "8Gi", "128974848")
	}
	if d.chance(.1) {
		requests["ephemeral-storage"] = d.quantity("500M", "5G", "50Gi")
	}
	if d.chance(.08) {
		limits["hugepages-2Mi"] = d.quantity("2Mi", "4Mi")
		limits["memory"] = resource.MustParse("16Gi")
	}
	if d.chance(.15) {
		limits["cpu"] = d.quantity("4", "16")
	}
	if d.chance(d.gpus) {
		limits[corev1.ResourceName(d.pick(devices...))] = d.quantity("0", "1", "1", "2", "3", "4", "8")
	}
	container.Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
	if d.chance(d.ports) || (pending && d.chance(d.ports)) {
		for i := range 1 + d.IntN(3) {
			container.Ports = append(container.Ports, corev1.ContainerPort{
				HostPort: []int32{0, 80, 443, 443, 9400}[d.IntN(5)], ContainerPort: int32(8000 + i), //nolint:gosec // below 8003
				Protocol: corev1.Protocol(d.pick("", "TCP", "UDP", "SCTP")), HostIP: d.pick("", "", "0.0.0.0", "10.0.0.1", "10.0.0.2", "::")})
		}
	}
	return container
}

func (d *drawer) quantity(usual ...string) resource.Quantity {
	if d.chance(d.overflow) {
		return resource.MustParse(d.pick("9223372036854775807", "4Ei", "7E"))
	}
	if d.chance(d.huge) {
		return resource.MustParse(d.pick("1P", "64Ti", "9007199254740", "9007199254741"))
	}
	return resource.MustParse(d.pick(usual...))
}

func (d *drawer) someTolerations() []corev1.Toleration {
	if d.chance(.05) {
		return []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	var tolerations []corev1.Toleration
	for range 1 + d.IntN(3) {
		toleration := corev1.Toleration{
			Key: d.pick(taintKeys...), Operator: corev1.TolerationOperator(d.pick("", "Equal", "Exists")), Value: d.pick(taintValues...),
			Effect: corev1.TaintEffect(d.pick("", "NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"))}
		if toleration.Operator == corev1.TolerationOpExists {
			toleration.Value = ""
		}
		if toleration.Effect == corev1.TaintEffectNoExecute && d.chance(.3) {
			seconds := int64(300)
			toleration.TolerationSeconds = &seconds
		}
		tolerations = append(tolerations, toleration)
	}
	return tolerations
}

// live gives a pod that has a node what it has by then: it runs, has finished, is being deleted, or was resized.
func (d *drawer) live(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodPhase(d.pick("Running", "Running", "Running", "Running", "Running", "Running", "Pending", "Pending", "Succeeded", "Failed"))
	if d.chance(.12) {
		when, grace := deleted, int64(30)
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &when, &grace
	}
	if !d.chance(d.resized) {
		return
	}
	pod.Status.InitContainerStatuses = d.statuses(pod.Spec.InitContainers)
	pod.Status.ContainerStatuses = d.statuses(pod.Spec.Containers)
	if pod.Spec.Resources != nil {
		pod.Status.AllocatedResources, pod.Status.Resources = d.actual()
	}
	if d.chance(.4) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: d.pick(corev1.PodReasonInfeasible, corev1.PodReasonDeferred)}}
	}
}

func (d *drawer) statuses(containers []corev1.Container) []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for _, container := range containers {
		status := corev1.ContainerStatus{Name: container.Name}
		status.AllocatedResources, status.Resources = d.actual()
		all = append(all, status)
	}
	return all
}

// actual is what kubelet has set aside for a container or a pod, and what that has; nil: kubelet does not say.
func (d *drawer) actual() (allocated corev1.ResourceList, has *corev1.ResourceRequirements) {
	if d.chance(.7) {
		allocated = corev1.ResourceList{"cpu": d.quantity("100m", "1", "4"), "memory": d.quantity("128Mi", "8Gi")}
	}
	if d.chance(.7) {
		has = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": d.quantity("100m", "2", "8"), "memory": d.quantity("128Mi", "4Gi")}}
	}
	return allocated, has
}
