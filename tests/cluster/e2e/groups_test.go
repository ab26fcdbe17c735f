package e2e

import (
	"fmt"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

// inGroup: the pod starts together with so many of that group, itself included.
func inGroup(name string, minCount int) fixture.PodOption {
	return func(p *corev1.Pod) {
		fixture.Annotated("gpu-scheduler.io/pod-group", name)(p)
		fixture.Annotated("gpu-scheduler.io/pod-group-min-count", fmt.Sprint(minCount))(p)
	}
}

// TestGangs: no pod of a group is bound before as many are there as start together and all of them have room; then all are. A pod that is
// created anew is bound by itself.
func TestGangs(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addGPUNodes(4)
	w.addPod("small", fixture.GPUs(1))
	w.waitBinds(1)

	train := func(i int) string { return fmt.Sprintf("train-%d", i) }
	for i := range 3 {
		w.addPod(train(i), fixture.GPUs(8), inGroup("train", 4))
	}
	for i := range 3 {
		w.waitTold(train(i), "3 of the 4 pods that start together as group train are there")
	}
	w.addPod(train(3), fixture.GPUs(8), inGroup("train", 4))
	for i := range 4 {
		w.waitTold(train(i), "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. There is room for 3 of the 4 pods that start together as group train.")
	}
	if n := w.boundSoFar(); n != 1 {
		t.Fatalf("%d pods are bound, of which one is in no group", n)
	}
	w.deletePod("small")
	w.waitBinds(4)

	w.deletePod(train(2))
	w.addPod("train-again", fixture.GPUs(8), inGroup("train", 4))
	w.waitPod("train-again", "bound", bound)
	w.verdict()
}

// TestGangsWithVolumes: no pod of a group is bound while the volume of one is being made. If that fails, none is, and the group is tried again.
func TestGangsWithVolumes(t *testing.T) {
	w := newWorld(t)
	class := w.addWaitingClass("csi.example")
	zones := map[string]string{}
	for i, in := range []string{"a", "b"} {
		zones[w.addZonedNode(fmt.Sprint(i), in, fixture.Allocatable(corev1.ResourceCPU, "2"))] = in
	}
	startSubject(t)
	w.addClaim("data", class)
	w.addPod("plain", fixture.Requests(corev1.ResourceCPU, "2"), inGroup("train", 2))
	w.addPod("mounts", fixture.Requests(corev1.ResourceCPU, "2"), inGroup("train", 2), mounts("data"))
	node := w.waitSelected("data")
	w.expectUnbound("plain")
	w.changeClaim("data", func(c *corev1.PersistentVolumeClaim) { delete(c.Annotations, selectedNode) })
	w.waitTold("mounts", "not bound to node "+node+": provisioning failed for PVC \"data\"")
	w.waitTold("plain", ": pod mounts of its group: provisioning failed for PVC \"data\"")
	if n := w.boundSoFar(); n != 0 {
		t.Errorf("%d pods of a group are bound that did not start", n)
	}
	node = w.waitSelected("data")
	w.expectUnbound("plain")
	w.provision("data", class, zones[node])
	w.expectOn("mounts", node)
	w.waitPod("plain", "bound", bound)
	w.verdict()
}

// TestGangsAfterAKill: the next scheduler knows by the pods' nodes which groups have started, and which have not.
func TestGangsAfterAKill(t *testing.T) {
	w := newWorld(t)
	s := startSubject(t)
	w.addGPUNodes(3)
	for i := range 2 {
		w.addPod(fmt.Sprintf("started-%d", i), fixture.GPUs(8), inGroup("started", 2))
	}
	w.waitBinds(2)
	for i := range 2 {
		w.addPod(fmt.Sprintf("waits-%d", i), fixture.GPUs(8), inGroup("waits", 2))
	}
	w.waitTold("waits-0", "There is room for 1 of the 2 pods that start together as group waits.")
	s.kill()
	w.addPod("started-more", fixture.GPUs(4), inGroup("started", 2))
	s.start()
	w.waitPod("started-more", "bound", bound)
	w.deletePod("started-0")
	w.waitTold("waits-1", "There is room for 1 of the 2 pods that start together as group waits.")
	w.deletePod("started-1")
	for i := range 2 {
		w.waitPod(fmt.Sprintf("waits-%d", i), "bound", bound)
	}
	w.verdict()
}
