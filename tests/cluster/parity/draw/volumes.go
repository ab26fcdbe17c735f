package draw

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"gpu-scheduler.io/tests/cluster/parity"
)

const driver = "csi.example"

type claim struct{ namespace, name string }

// storage fills the case with classes, volumes and claims, of which pods mount some.
func (d *drawer) storage(c *parity.Case) {
	wait, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	zoned := []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zone, Values: []string{d.pick("z-a", "z-b", "z-c")}}}}}
	c.Classes = []storagev1.StorageClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "wait"}, Provisioner: driver, VolumeBindingMode: &wait},
		{ObjectMeta: metav1.ObjectMeta{Name: "wait-zoned"}, Provisioner: driver, VolumeBindingMode: &wait, AllowedTopologies: zoned},
		{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait},
		{ObjectMeta: metav1.ObjectMeta{Name: "now"}, Provisioner: driver, VolumeBindingMode: &now},
	}
	if d.inTree > 0 {
		provisioner := d.pick(disks[0].plugin, disks[1].plugin, disks[2].plugin, disks[3].plugin, disks[4].plugin, "kubernetes.io/azure-file")
		c.Classes = append(c.Classes, storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Provisioner: provisioner, VolumeBindingMode: &wait})
	}
	for _, node := range c.Nodes {
		if d.chance(.15) {
			continue
		}
		on := storagev1.CSINodeDriver{Name: driver, NodeID: node.Name}
		if d.chance(.4) {
			count := int32(d.IntN(3)) //nolint:gosec // below 3
			on.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
		}
		csiNode := storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{on}}}
		if d.chance(d.inTree * 2) {
			d.takeOver(&csiNode)
		}
		c.CSINodes = append(c.CSINodes, csiNode)
	}
	for i := range 1 + d.IntN(5) {
		volume := d.volume(fmt.Sprintf("pv-%d", i))
		claim := d.claim(fmt.Sprintf("pvc-%d", i), d.pick("ml", "ml", "team-a", "default"))
		switch x := d.Float64(); {
		case x < .5:
			bind(&volume, &claim)
		case x < .57:
			claim.Spec.VolumeName = d.pick(volume.Name, "gone") // half-way bound
		case x < .75:
			claim.Annotations = map[string]string{"volume.kubernetes.io/selected-node": d.pick("node-0", "node-1", "gone")}
		}
		if !d.chance(.05) {
			c.Volumes = append(c.Volumes, volume)
		}
		c.Claims = append(c.Claims, claim)
		d.claims = append(d.claims, claimOf(claim))
	}
}

func claimOf(stored corev1.PersistentVolumeClaim) claim { return claim{stored.Namespace, stored.Name} }

func (d *drawer) volume(name string) corev1.PersistentVolume {
	mode := corev1.PersistentVolumeFilesystem
	volume := corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		Capacity:    corev1.ResourceList{"storage": resource.MustParse(d.pick("1Gi", "10Gi"))},
		AccessModes: []corev1.PersistentVolumeAccessMode{d.accessMode()}, VolumeMode: &mode,
		StorageClassName:       d.pick("wait", "wait-zoned", "local", "local", "now"),
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}},
	}}
	volume.Status.Phase = corev1.VolumeAvailable
	if d.chance(d.inTree) {
		volume.Spec.PersistentVolumeSource = d.inTreeVolume(name)
	}
	if d.chance(.3) {
		volume.Labels = map[string]string{zone: d.pick("z-a", "z-b", "z-a__z-b")}
	}
	if d.chance(.5) {
		requirement := corev1.NodeSelectorRequirement{Key: zone, Operator: corev1.NodeSelectorOpIn, Values: d.some("z-a", "z-b", "z-c")}
		if d.chance(.5) {
			requirement = corev1.NodeSelectorRequirement{Key: hostname, Operator: corev1.NodeSelectorOpIn, Values: d.some("node-0", "node-1", "node-2")}
		}
		volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{requirement}}}}}
	}
	return volume
}

func (d *drawer) accessMode() corev1.PersistentVolumeAccessMode {
	return corev1.PersistentVolumeAccessMode(d.pick("ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"))
}

func (d *drawer) claim(name, namespace string) corev1.PersistentVolumeClaim {
	class, mode := d.pick("wait", "wait", "wait", "wait-zoned", "wait-zoned", "local", "local", "now"), corev1.PersistentVolumeFilesystem
	if d.chance(.01) {
		class = "gone"
	}
	if d.chance(d.inTree) {
		class = "old"
	}
	return corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID("uid-" + name)},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{d.accessMode()}, StorageClassName: &class, VolumeMode: &mode,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse(d.pick("1Gi", "10Gi"))}}},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
}

// bind makes them fit each other, as the volume controller leaves them.
func bind(volume *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) {
	volume.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	volume.Status.Phase = corev1.VolumeBound
	claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
	claim.Spec.VolumeName = volume.Name
	claim.Spec.StorageClassName = &volume.Spec.StorageClassName
	claim.Spec.AccessModes = volume.Spec.AccessModes
	claim.Status.Phase = corev1.ClaimBound
}

// mount gives a pod some of the claims of its namespace, a claim that is not there, a disk without a claim, or an image.
func (d *drawer) mount(pod *corev1.Pod) {
	if d.chance(.05) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "image", VolumeSource: corev1.VolumeSource{
			Image: &corev1.ImageVolumeSource{Reference: d.pick(images...)}}})
	}
	if len(d.claims) == 0 || !d.chance(d.volumes) {
		return
	}
	mounted := map[string]bool{}
	for range 1 + d.IntN(2) {
		name := d.pick("missing", "pvc-0")
		if of := d.claims[d.IntN(len(d.claims))]; of.namespace == pod.Namespace || d.chance(.03) {
			name = of.name
		} else if !d.chance(.03) {
			continue
		}
		if !mounted[name] {
			mounted[name] = true
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "v-" + name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
		}
	}
	if d.chance(.15) {
		claim := d.claim("", "")
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claim.Spec}}}})
	}
	for _, name := range []string{"disk", "scratch-disk"} {
		if d.chance(.08 + d.inTree/2) {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: d.disk()})
		}
	}
}

// claimScratch makes the claims of a pod's ephemeral volumes, as a controller does some time after the pod is there. A claim of that
// name may belong to something else.
func (d *drawer) claimScratch(c *parity.Case, pod *corev1.Pod) {
	for _, volume := range pod.Spec.Volumes {
		if volume.Ephemeral == nil || d.chance(.2) {
			continue
		}
		claim := corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name + "-" + volume.Name, Namespace: pod.Namespace, UID: types.UID("uid-" + pod.Name + "-" + volume.Name)},
			Spec:       *volume.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy(),
			Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
		}
		if !d.chance(.2) {
			yes := true
			claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &yes, BlockOwnerDeletion: &yes}}
		}
		if d.chance(.3) {
			made := d.volume("pv-of-" + claim.Name)
			bind(&made, &claim)
			if !d.chance(.1) {
				c.Volumes = append(c.Volumes, made)
			}
		}
		c.Claims = append(c.Claims, claim)
	}
}
