package lockstep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// anyPod is one that has a node and suits; nil if there is none.
func (r *run) anyPod(suits func(*placed) bool) *placed {
	var some []*placed
	for i := range r.model.pods {
		if suits(&r.model.pods[i]) {
			some = append(some, &r.model.pods[i])
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[r.random.IntN(len(some))]
}

func anything(*placed) bool { return true }
func runs(p *placed) bool   { return !p.finished && !p.terminating }

func (r *run) deletePod(ctx context.Context) (string, error) {
	pod := r.anyPod(anything)
	if pod == nil {
		return "", nil
	}
	return r.dropPod(ctx, *pod)
}

func (r *run) dropPod(ctx context.Context, pod placed) (string, error) {
	r.model.pods = slices.DeleteFunc(r.model.pods, func(p placed) bool { return p.namespace == pod.namespace && p.name == pod.name })
	return "pod " + pod.String() + " is deleted", r.both(func(o *side) error { return o.remove(ctx, pod.namespace, pod.name) })
}

// terminatePod leaves it there with a deletion timestamp, as no kubelet ends it.
func (r *run) terminatePod(ctx context.Context) (string, error) {
	pod := r.anyPod(runs)
	if pod == nil {
		return "", nil
	}
	pod.terminating = true
	return "pod " + pod.String() + " begins to end", r.both(func(o *side) error {
		return o.client.CoreV1().Pods(pod.namespace).Delete(ctx, pod.name, *metav1.NewDeleteOptions(3600))
	})
}

func (r *run) finishPod(ctx context.Context) (string, error) {
	pod := r.anyPod(func(p *placed) bool { return !p.finished })
	if pod == nil {
		return "", nil
	}
	pod.finished = true
	phase := []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}[r.random.IntN(2)]
	return fmt.Sprintf("pod %v has %s", pod, strings.ToLower(string(phase))), r.both(func(o *side) error {
		return o.patchPod(ctx, pod.namespace, pod.name, []operation{{"add", "/status/phase", phase}}, "status")
	})
}

func (r *run) relabelPod(ctx context.Context) (string, error) {
	pod := r.anyPod(runs)
	if pod == nil {
		return "", nil
	}
	labels := r.draw.Labels()
	return fmt.Sprintf("pod %v has labels %v", pod, labels), r.both(func(o *side) error {
		return o.patchPod(ctx, pod.namespace, pod.name, []operation{{"add", "/metadata/labels", labels}})
	})
}

// resizePod writes what the first container has got, as a kubelet does.
func (r *run) resizePod(ctx context.Context) (string, error) {
	pod := r.anyPod(runs)
	if pod == nil {
		return "", nil
	}
	has := corev1.ResourceList{"cpu": resource.MustParse([]string{"100m", "1", "4"}[r.random.IntN(3)]), "memory": resource.MustParse([]string{"128Mi", "4Gi"}[r.random.IntN(2)])}
	status := []corev1.ContainerStatus{{Name: "c0", AllocatedResources: has, Resources: &corev1.ResourceRequirements{Requests: has}}}
	return fmt.Sprintf("pod %v has %v cpu and %v memory", pod, has.Cpu(), has.Memory()), r.both(func(o *side) error {
		return o.patchPod(ctx, pod.namespace, pod.name, []operation{{"add", "/status/containerStatuses", status}}, "status")
	})
}
