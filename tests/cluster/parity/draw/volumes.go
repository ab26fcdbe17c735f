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

const (
	driver = "csi.example"

	oldZone   = "failure-domain.beta.kubernetes.io/zone"
	oldRegion = "failure-domain.beta.kubernetes.io/region"
)

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
	d.capacities(c)
	for i := range 1 + d.IntN(5) {
		volume := d.volume(fmt.Sprintf("pv-%d", i))
		claim := d.claim(fmt.Sprintf("pvc-%d", i), d.pick("ml", "ml", "team-a", "default"))
		switch x := d.Float64(); {
		case x < .5:
			bind(&volume, &claim)
		case x < .57:
			claim.Spec.VolumeName = d.pick(volume.Name, "gone") // half-way bound
		case x < .65:
			claim.Annotations = map[string]string{"volume.kubernetes.io/selected-node": d.pick("node-0", "node-1", "gone")}
		case x < .75: // reserved for the claim, by hand or by a scheduler, or for one that had its name
			volume.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name,
				UID: types.UID(d.pick("", string(claim.UID), "of another"))}
		}
		if !d.chance(.05) {
			c.Volumes = append(c.Volumes, volume)
		}
		c.Claims = append(c.Claims, claim)
		d.claims = append(d.claims, claimOf(claim))
		if d.chance(.15) {
			of := volume.Name
			c.Attachments = append(c.Attachments, storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "of-" + of},
				Spec: storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: d.pick("node-0", "node-1"),
					Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &of}}})
		}
	}
}

// capacities are where the driver says that it has room; mostly it does not say.
func (d *drawer) capacities(c *parity.Case) {
	if d.chance(.6) {
		return
	}
	says := d.chance(.85)
	c.CSIDrivers = []storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &says}}}
	for i := range d.IntN(6) {
		room := storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("room-%d", i), Namespace: "csi"},
			StorageClassName: d.pick("wait", "wait", "wait-zoned", "now"), NodeTopology: d.segment()}
		if d.chance(.85) {
			room.Capacity = d.size("0", "1Gi", "5e9", "10Gi", "100Gi")
		}
		if d.chance(.3) {
			room.MaximumVolumeSize = d.size("1Gi", "1073741823", "10Gi")
		}
		c.Capacities = append(c.Capacities, room)
	}
}

func (d *drawer) size(some ...string) *resource.Quantity {
	size := resource.MustParse(d.pick(some...))
	return &size
}

// segment selects nodes: nil none, an empty one all.
func (d *drawer) segment() *metav1.LabelSelector {
	switch d.IntN(8) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{}
	case 2, 3:
		return &metav1.LabelSelector{MatchLabels: map[string]string{hostname: d.pick("node-0", "node-1", "node-2")}}
	case 4:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: zone, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"z-a"}}}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{zone: d.pick("z-a", "z-b")}}
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
	if first := volume.Spec.AccessModes[0]; first != corev1.ReadWriteOncePod && d.chance(.2) {
		volume.Spec.AccessModes = append(volume.Spec.AccessModes, corev1.ReadOnlyMany)
	}
	if d.chance(.3) {
		volume.Labels = map[string]string{d.pick(zone, zone, oldZone): d.pick("z-a", "z-b", "z-a__z-b", "z-a__")}
	}
	if d.chance(.1) {
		volume.Labels = map[string]string{d.pick(region, oldRegion): d.pick("r1", "r2")}
	}
	if d.chance(.3) {
		metav1.SetMetaDataLabel(&volume.ObjectMeta, "disk", d.pick("ssd", "hdd"))
	}
	if d.chance(.04) {
		volume.Spec.VolumeAttributesClassName = d.attributes()
	}
	if d.chance(.03) {
		when := deleted
		volume.DeletionTimestamp = &when
	}
	if d.chance(.5) {
		requirement := corev1.NodeSelectorRequirement{Key: zone, Operator: corev1.NodeSelectorOpIn, Values: d.some("z-a", "z-b", "z-c")}
		if d.chance(.5) {
			requirement = corev1.NodeSelectorRequirement{Key: hostname, Operator: corev1.NodeSelectorOpIn, Values: d.some("node-0", "node-1", "node-2")}
		}
		term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{requirement}}
		if d.chance(.1) {
			term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"node-0"}}}
		}
		volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}}
	}
	return volume
}

func (d *drawer) attributes() *string {
	name := d.pick("gold", "silver")
	return &name
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
	made := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID("uid-" + name)},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{d.accessMode()}, StorageClassName: &class, VolumeMode: &mode,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse(d.pick("1Gi", "10Gi"))}}},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	if d.chance(.1) {
		made.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": d.pick("ssd", "hdd")}}
	}
	if d.chance(.04) {
		made.Spec.VolumeAttributesClassName = d.attributes()
	}
	return made
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
