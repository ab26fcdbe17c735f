// Persistent volumes and claims, and the objects that state where a volume can be made or attached:
// the fields that tie a pod to nodes, and those by which a claim finds its volume.
//
// Sizes are bytes, rounded up; sizes beyond 64 bits saturate.
#pragma once

#include "k8s-client/api/kind.h"
#include "k8s-client/api/meta.h"
#include "k8s-client/api/selector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k8s {

struct PersistentVolumeClaim {
  static constexpr ObjectKind kKind{"PersistentVolumeClaim", "v1", "persistentvolumeclaims",
                                    kNamespaced};
  ObjectMeta metadata;
  std::string volume_name;  // empty: unbound
  // From the annotation volume.beta.kubernetes.io/storage-class if there is one, as kube-scheduler
  // does, else from spec.storageClassName. Empty: none.
  std::string storage_class;
  std::string volume_attributes_class;
  std::string volume_mode;  // empty: Filesystem, also if the API server writes that word
  std::vector<std::string> access_modes;
  std::optional<std::int64_t> requested_bytes;  // spec.resources.requests.storage
  std::optional<LabelSelector> selector;        // absent: any volume
  std::string phase;                            // "Pending", "Bound", "Lost"
  friend bool operator==(const PersistentVolumeClaim&, const PersistentVolumeClaim&) = default;
};

// The claim that a volume is for. In a volume written by hand the uid may be missing until the
// claim is bound.
struct ClaimReference {
  std::string namespace_;
  std::string name;
  std::string uid;
  friend bool operator==(const ClaimReference&, const ClaimReference&) = default;
};

// A disk in a field of the volume's spec from the time before CSI, if kube-scheduler
// (csi-translation-lib) counts it as a volume of the CSI driver that serves it today.
struct InTreeDisk {
  std::string source;  // the field's name: "gcePersistentDisk"
  // The driver's name for it: awsElasticBlockStore.volumeID, azureDisk.diskURI, cinder.volumeID,
  // gcePersistentDisk.pdName, portworxVolume.volumeID.
  std::string id;
  friend bool operator==(const InTreeDisk&, const InTreeDisk&) = default;
};

struct PersistentVolume {
  static constexpr ObjectKind kKind{"PersistentVolume", "v1", "persistentvolumes"};
  ObjectMeta metadata;
  std::optional<NodeSelector> node_affinity;  // spec.nodeAffinity.required
  std::optional<ClaimReference> claim_ref;
  // Like a claim's, from the same annotation and spec.storageClassName.
  std::string storage_class;
  std::string volume_attributes_class;
  std::string volume_mode;  // like a claim's
  std::vector<std::string> access_modes;
  std::optional<std::int64_t> capacity_bytes;  // spec.capacity.storage
  std::string csi_driver;                      // spec.csi.driver; empty: another kind of volume
  std::string csi_volume_handle;               // spec.csi.volumeHandle
  std::optional<InTreeDisk> in_tree_disk;
  std::string phase;  // "Pending", "Available", "Bound", "Released", "Failed"
  friend bool operator==(const PersistentVolume&, const PersistentVolume&) = default;
};

struct StorageClass {
  static constexpr ObjectKind kKind{"StorageClass", "storage.k8s.io/v1", "storageclasses"};
  ObjectMeta metadata;
  std::string provisioner;
  std::optional<std::string> binding_mode;  // "Immediate", "WaitForFirstConsumer"
  // The nodes that volumes can be made for; its requirements are all kIn. Absent: every node.
  std::optional<NodeSelector> allowed_topologies;
  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

// The drivers of the node of that name.
struct CsiNode {
  static constexpr ObjectKind kKind{"CSINode", "storage.k8s.io/v1", "csinodes"};
  struct Driver {
    std::string name;
    std::optional<std::int32_t> allocatable_count;  // volumes at a time; absent: no limit
    friend bool operator==(const Driver&, const Driver&) = default;
  };
  ObjectMeta metadata;
  std::vector<Driver> drivers;
  friend bool operator==(const CsiNode&, const CsiNode&) = default;
};

struct CsiDriver {
  static constexpr ObjectKind kKind{"CSIDriver", "storage.k8s.io/v1", "csidrivers"};
  ObjectMeta metadata;
  bool storage_capacity = false;  // CSIStorageCapacities state where it has room
  // A node whose CSINode does not name the driver is excluded for pods that use its volumes. Behind
  // a feature gate in Kubernetes 1.36, on by default in 1.37.
  bool prevents_if_missing = false;
  friend bool operator==(const CsiDriver&, const CsiDriver&) = default;
};

// How much a class can provide for the nodes of a segment.
struct CsiStorageCapacity {
  static constexpr ObjectKind kKind{"CSIStorageCapacity", "storage.k8s.io/v1",
                                    "csistoragecapacities", kNamespaced};
  ObjectMeta metadata;
  std::string storage_class;
  std::optional<LabelSelector> node_topology;  // absent: no node
  std::optional<std::int64_t> capacity_bytes;  // absent: not known
  std::optional<std::int64_t> maximum_volume_bytes;
  friend bool operator==(const CsiStorageCapacity&, const CsiStorageCapacity&) = default;
};

struct VolumeAttachment {
  static constexpr ObjectKind kKind{"VolumeAttachment", "storage.k8s.io/v1", "volumeattachments"};
  ObjectMeta metadata;
  std::string attacher;  // a CSI driver
  std::string node;
  std::string volume;  // a PersistentVolume; empty: an in-line volume of a pod
  friend bool operator==(const VolumeAttachment&, const VolumeAttachment&) = default;
};

}  // namespace k8s
