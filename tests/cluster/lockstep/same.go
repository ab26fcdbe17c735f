package lockstep

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sameClusters says whether the same objects stand before both schedulers, but for pods that wait and the one that is left out. If not, nothing that
// was compared since is worth anything.
func (r *run) sameClusters(ctx context.Context, leftOut string) error {
	theirs, err := r.theirs.list(ctx)
	if err != nil {
		return err
	}
	ours, err := r.ours.list(ctx)
	if err != nil {
		return err
	}
	if difference := firstDifference(essence(theirs, leftOut), essence(ours, leftOut)); difference != "" {
		return fmt.Errorf("the clusters are not the same any more: %s", difference)
	}
	return nil
}

// essence is what schedulers read of the objects, as text, by kind and name.
func essence(of objects, leftOut string) map[string]string {
	texts := map[string]string{}
	for _, node := range of.nodes {
		texts["node "+node.Name] = text(bare(node.ObjectMeta), node.Spec, node.Status)
	}
	for _, pod := range of.pods {
		if pod.Spec.NodeName != "" && keyOf(&pod) != leftOut {
			texts["pod "+keyOf(&pod)] = text(bare(pod.ObjectMeta), pod.Spec, pod.DeletionTimestamp != nil, pod.Status.Phase, pod.Status.ContainerStatuses)
		}
	}
	for _, namespace := range of.namespaces {
		if deployed := namespace.Name == schedulerName; !deployed {
			texts["namespace "+namespace.Name] = text(bare(namespace.ObjectMeta))
		}
	}
	return texts
}

func bare(meta metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: meta.Name, Namespace: meta.Namespace, Labels: meta.Labels}
}

func text(parts ...any) string {
	encoded, err := json.Marshal(parts)
	if err != nil {
		panic(err) // no type of the API refuses to be written
	}
	return string(encoded)
}

// firstDifference is empty if both have the same.
func firstDifference(theirs, ours map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if ours[name] != theirs[name] {
			return fmt.Sprintf("%s: at kube-scheduler's %s, at gpu-scheduler's %s", name, theirs[name], ours[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if _, ok := theirs[name]; !ok {
			return fmt.Sprintf("%s: at gpu-scheduler's alone, %s", name, ours[name])
		}
	}
	return ""
}
