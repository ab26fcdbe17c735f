package draw

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// disks are the kinds that Kubernetes served itself once, with the CSI drivers that have taken them over.
var disks = []struct{ plugin, driver, zone string }{
	{"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone"},
	{"kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"},
	{"kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"},
	{"kubernetes.io/azure-disk", "disk.csi.azure.com", ""},
	{"kubernetes.io/portworx-volume", "pxd.portworx.com", ""},
}

// takeOver has the drivers of some kinds take them over on the node, each with room for a volume or two.
func (d *drawer) takeOver(node *storagev1.CSINode) {
	var plugins []string
	for _, kind := range disks {
		if d.chance(.7) {
			plugins = append(plugins, kind.plugin)
		}
		if d.chance(.6) {
			room := int32(1 + d.IntN(2)) //nolint:gosec // at most 2
			node.Spec.Drivers = append(node.Spec.Drivers, storagev1.CSINodeDriver{Name: kind.driver, NodeID: node.Name,
				Allocatable: &storagev1.VolumeNodeResources{Count: &room}})
		}
	}
	node.Annotations = map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": strings.Join(plugins, ",")}
}

// inTreeVolume is the source of a PersistentVolume. Some are disks that pods mount in-line as well.
func (d *drawer) inTreeVolume(name string) (source corev1.PersistentVolumeSource) {
	id := d.pick(name, "disk-1")
	switch d.IntN(len(disks)) {
	case 0:
		source.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: id}
	case 1:
		source.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: d.pick(id, "vol-1", "aws://z-a/vol-1")}
	case 2:
		source.Cinder = &corev1.CinderPersistentVolumeSource{VolumeID: id}
	case 3:
		kind := corev1.AzureManagedDisk
		source.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: "/subscriptions/" + id, Kind: &kind}
	case 4:
		source.PortworxVolume = &corev1.PortworxVolumeSource{VolumeID: id}
	}
	return source
}

// disk is one that a pod mounts in-line. Most are of the kinds that one pod of a node mounts at a time.
func (d *drawer) disk() (source corev1.VolumeSource) {
	id, readOnly := d.pick("disk-1", "disk-1", "disk-2"), d.chance(.4)
	switch d.IntN(8) {
	case 0, 1:
		source.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: id, ReadOnly: readOnly}
	case 2:
		source.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: d.pick("vol-1", "aws://z-a/vol-1", id), ReadOnly: readOnly}
	case 3:
		source.ISCSI = &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1", IQN: "iqn.2026-01.example:" + id, ReadOnly: readOnly}
	case 4:
		source.RBD = &corev1.RBDVolumeSource{CephMonitors: d.some("10.0.0.1", "10.0.0.2", "10.0.0.3"), RBDImage: id,
			RBDPool: d.pick("rbd", "rbd", "fast"), ReadOnly: readOnly}
	case 5:
		source.Cinder = &corev1.CinderVolumeSource{VolumeID: id}
	case 6:
		kind := corev1.AzureManagedDisk
		source.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: "/subscriptions/" + id, Kind: &kind}
	case 7:
		source.PortworxVolume = &corev1.PortworxVolumeSource{VolumeID: id}
	}
	return source
}
