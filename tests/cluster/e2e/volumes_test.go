package e2e

import (
	"context"
	"fmt"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// No controllers run beside the API server, so the tests do by hand, and when they choose, what the volume controller and provisioners
// do: a claim with a selected node gets a volume, or has its node taken back; a volume that was reserved is bound.

const (
	selectedNode  = "volume.kubernetes.io/selected-node"
	bindCompleted = "pv.kubernetes.io/bind-completed"
	byController  = "pv.kubernetes.io/bound-by-controller"
	noProvisioner = "kubernetes.io/no-provisioner"
)

// addWaitingClass makes a storage class of the test; its claims wait for their pods. It returns its name.
func (w *world) addWaitingClass(provisioner string) string {
	w.t.Helper()
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: w.ns}, Provisioner: provisioner, VolumeBindingMode: &wait}
	w.must(w.client.StorageV1().StorageClasses().Create(w.t.Context(), class, metav1.CreateOptions{}))
	w.t.Cleanup(func() {
		w.cleanUp(w.client.StorageV1().StorageClasses().Delete(context.Background(), class.Name, metav1.DeleteOptions{}))
	})
	return class.Name
}

// addClaim makes an unbound claim of a class.
func (w *world) addClaim(name, class string) {
	w.t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: aGibibyte},
		},
	}
	w.must(w.client.CoreV1().PersistentVolumeClaims(w.ns).Create(w.t.Context(), claim, metav1.CreateOptions{}))
}

// addVolumeIn makes a volume of a class for the nodes of a zone, for a claim if it is not nil. It returns its name.
func (w *world) addVolumeIn(in, name, class string, claim *corev1.ObjectReference) string {
	w.t.Helper()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: aGibibyte, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: class, ClaimRef: claim,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example", VolumeHandle: name}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zone, Operator: corev1.NodeSelectorOpIn, Values: []string{in}}},
			}}}},
		},
	}
	volumes := w.client.CoreV1().PersistentVolumes()
	made, err := volumes.Create(w.t.Context(), volume, metav1.CreateOptions{})
	w.must(made, err)
	made.Status.Phase = corev1.VolumeAvailable
	w.must(volumes.UpdateStatus(w.t.Context(), made, metav1.UpdateOptions{}))
	w.t.Cleanup(func() { w.cleanUp(volumes.Delete(context.Background(), volume.Name, metav1.DeleteOptions{})) })
	return volume.Name
}

func mounts(claim string) fixture.PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
	}
}

// waitClaim waits for a condition of a claim, and returns it.
func (w *world) waitClaim(name, what string, condition func(*corev1.PersistentVolumeClaim) bool) (found *corev1.PersistentVolumeClaim) {
	w.t.Helper()
	w.poll("claim "+name+" is "+what, func(ctx context.Context) bool {
		claim, err := w.client.CoreV1().PersistentVolumeClaims(w.ns).Get(ctx, name, metav1.GetOptions{})
		found = claim
		return err == nil && condition(claim)
	})
	return found
}

// waitSelected waits until a node is selected for a claim, and returns it.
func (w *world) waitSelected(claim string) string {
	w.t.Helper()
	return w.waitClaim(claim, "given a node", func(c *corev1.PersistentVolumeClaim) bool {
		return c.Annotations[selectedNode] != ""
	}).Annotations[selectedNode]
}

// changeClaim writes a claim as a controller would.
func (w *world) changeClaim(name string, change func(*corev1.PersistentVolumeClaim)) {
	w.t.Helper()
	claims := w.client.CoreV1().PersistentVolumeClaims(w.ns)
	w.persist(func(ctx context.Context) error {
		claim, err := claims.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		change(claim)
		_, err = claims.Update(ctx, claim, metav1.UpdateOptions{})
		return err
	})
}

// bindClaim ends the binding of a claim to a volume.
func (w *world) bindClaim(name, volume string) {
	w.t.Helper()
	w.changeClaim(name, func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName, c.Annotations[bindCompleted] = volume, "yes"
	})
}

// provision makes the volume of a claim, for the nodes of a zone.
func (w *world) provision(claim, class, in string) {
	w.t.Helper()
	c := w.waitClaim(claim, "there", func(*corev1.PersistentVolumeClaim) bool { return true })
	ref := &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: w.ns, Name: claim, UID: c.UID}
	w.bindClaim(claim, w.addVolumeIn(in, "for-"+claim, class, ref))
}

// expectUnbound fails the test if the pod has a node.
func (w *world) expectUnbound(pod string) {
	w.t.Helper()
	p, err := w.client.CoreV1().Pods(w.ns).Get(w.t.Context(), pod, metav1.GetOptions{})
	if err != nil || p.Spec.NodeName != "" {
		w.t.Errorf("%s is bound to %q before its volumes are; %v", pod, p.Spec.NodeName, err)
	}
}

// TestVolumesAreMadeWhereTheirPodsGo: the pods of a StatefulSet each select the node of their claim, and are bound there once it is
// bound; the room there is taken meanwhile.
func TestVolumesAreMadeWhereTheirPodsGo(t *testing.T) {
	w := newWorld(t)
	class := w.addWaitingClass("csi.example")
	zones := map[string]string{}
	for i, in := range []string{"a", "b", "c"} {
		zones[w.addZonedNode(fmt.Sprint(i), in, fixture.Allocatable(corev1.ResourceCPU, "2"))] = in
	}
	startSubject(t)
	for i := range 3 {
		claim := fmt.Sprintf("data-db-%d", i)
		w.addClaim(claim, class)
		w.addPod(fmt.Sprintf("db-%d", i), fixture.Requests(corev1.ResourceCPU, "2"), mounts(claim))
	}
	taken := map[string]bool{}
	for i := range 3 {
		claim, pod := fmt.Sprintf("data-db-%d", i), fmt.Sprintf("db-%d", i)
		node := w.waitSelected(claim)
		if taken[node] {
			t.Errorf("node %s is selected twice, and has room for one", node)
		}
		taken[node] = true
		w.expectUnbound(pod)
		w.provision(claim, class, zones[node])
		w.expectOn(pod, node)
	}
	w.verdict()
}

// TestVolumesAreTaken: a pod goes where a free volume of its class is; the volume is reserved for its claim, and not for another's.
func TestVolumesAreTaken(t *testing.T) {
	w := newWorld(t)
	class := w.addWaitingClass(noProvisioner)
	w.addZonedNode("0", "a")
	there := w.addZonedNode("1", "b")
	startSubject(t)
	w.addClaim("first", class)
	w.addPod("first", mounts("first"))
	w.waitRefused("first", "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.")
	volume := w.addVolumeIn("b", "disk", class, nil)
	w.poll("the volume is reserved", func(ctx context.Context) bool {
		v, err := w.client.CoreV1().PersistentVolumes().Get(ctx, volume, metav1.GetOptions{})
		if err != nil || v.Spec.ClaimRef == nil {
			return false
		}
		if v.Spec.ClaimRef.Name != "first" || v.Spec.ClaimRef.UID == "" || v.Annotations[byController] != "yes" {
			t.Errorf("the volume is for %+v, with annotations %v", v.Spec.ClaimRef, v.Annotations)
		}
		return true
	})
	w.addClaim("second", class)
	w.addPod("second", mounts("second"))
	w.waitRefused("second", "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.")
	w.expectUnbound("first")
	w.bindClaim("first", volume)
	w.expectOn("first", there)
	other := w.addVolumeIn("a", "other", class, nil)
	w.poll("the other volume is reserved", func(ctx context.Context) bool {
		v, err := w.client.CoreV1().PersistentVolumes().Get(ctx, other, metav1.GetOptions{})
		return err == nil && v.Spec.ClaimRef != nil && v.Spec.ClaimRef.Name == "second"
	})
	w.bindClaim("second", other)
	w.expectOn("second", w.ns+"-0")
	w.verdict()
}

// TestProvisionerGivesUp: it takes the node back, the claim goes and comes again, and the node goes; each time the pod is told, and tried
// anew.
func TestProvisionerGivesUp(t *testing.T) {
	w := newWorld(t)
	class := w.addWaitingClass("csi.example")
	w.addZonedNode("0", "a")
	startSubject(t)
	w.addClaim("data", class)
	w.addPod("db", mounts("data"))
	giveUp := func(c *corev1.PersistentVolumeClaim) { delete(c.Annotations, selectedNode) }

	node := w.waitSelected("data")
	w.changeClaim("data", giveUp)
	w.waitTold("db", "not bound to node "+node+": provisioning failed for PVC \"data\"")
	if again := w.waitSelected("data"); again != node {
		t.Errorf("node %s is selected, and there is only %s", again, node)
	}

	w.must(nil, w.client.CoreV1().PersistentVolumeClaims(w.ns).Delete(t.Context(), "data", metav1.DeleteOptions{}))
	w.persist(func(ctx context.Context) error { // what protects a claim in use is a controller's to end
		c, err := w.client.CoreV1().PersistentVolumeClaims(w.ns).Get(ctx, "data", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		} else if err != nil {
			return err
		}
		c.Finalizers = nil
		_, err = w.client.CoreV1().PersistentVolumeClaims(w.ns).Update(ctx, c, metav1.UpdateOptions{})
		return err
	})
	w.waitTold("db", "persistentvolumeclaim \"data\" not found")
	w.addClaim("data", class)
	w.waitSelected("data")

	w.removeNode(node)
	w.waitTold("db", "not bound to node "+node+": the node is gone")
	other := w.addZonedNode("1", "b")
	w.changeClaim("data", giveUp)
	w.waitClaim("data", "given the other node", func(c *corev1.PersistentVolumeClaim) bool { return c.Annotations[selectedNode] == other })
	w.expectUnbound("db")
	w.provision("data", class, "b")
	w.expectOn("db", other)
	w.verdict()
}

// TestKilledWhileVolumesAreMade: another process finds the node that was selected, or the volume that was reserved, or all bound, and goes
// on from there.
func TestKilledWhileVolumesAreMade(t *testing.T) {
	w := newWorld(t)
	class := w.addWaitingClass("csi.example")
	first := w.addZonedNode("0", "a", fixture.Allocatable(corev1.ResourceCPU, "2"))
	w.addZonedNode("1", "b", fixture.Allocatable(corev1.ResourceCPU, "2"))
	s := startSubject(t)
	w.addClaim("data", class)
	w.addPod("db", fixture.Requests(corev1.ResourceCPU, "2"), mounts("data"))
	zoneOf := map[string]string{first: "a", w.ns + "-1": "b"}
	node := w.waitSelected("data")
	s.kill()
	s.start()
	// It does not choose another node, also where that one has become the better one.
	w.addZonedNode("2", "c", fixture.Allocatable(corev1.ResourceCPU, "2"))
	w.addPod("marker", fixture.Requests(corev1.ResourceCPU, "2"))
	w.waitPod("marker", "bound", bound)
	w.expectUnbound("db")
	if now := w.waitSelected("data"); now != node {
		t.Errorf("node %s is selected after %s was", now, node)
	}
	s.kill()
	w.provision("data", class, zoneOf[node])
	s.start()
	w.expectOn("db", node)

	volume := w.addVolumeIn("c", "disk", class, nil)
	w.addClaim("more", class)
	w.addPod("reader", mounts("more"))
	reserved := func(ctx context.Context) bool {
		v, err := w.client.CoreV1().PersistentVolumes().Get(ctx, volume, metav1.GetOptions{})
		return err == nil && v.Spec.ClaimRef != nil
	}
	selected := func(ctx context.Context) bool {
		c, err := w.client.CoreV1().PersistentVolumeClaims(w.ns).Get(ctx, "more", metav1.GetOptions{})
		return err == nil && c.Annotations[selectedNode] != ""
	}
	var byVolume bool
	w.poll("the claim has a volume, or a node", func(ctx context.Context) bool {
		byVolume = reserved(ctx)
		return byVolume || selected(ctx)
	})
	s.kill()
	s.start()
	if byVolume {
		w.bindClaim("more", volume)
		w.expectOn("reader", w.ns+"-2")
	} else {
		w.provision("more", class, zoneOf[w.waitSelected("more")])
		w.waitPod("reader", "bound", bound)
	}
	w.verdict()
}
