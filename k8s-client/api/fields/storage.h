// The fields of volumes, claims and the objects around them.
#pragma once

#include "k8s-client/api/fields/description.h"
#include "k8s-client/api/fields/meta.h"
#include "k8s-client/api/fields/selector.h"
#include "k8s-client/api/storage.h"
#include "k8s-client/api/words.h"

namespace k8s {

void fields(Of<PersistentVolumeClaim> auto& claim, auto&& field) {
  field("metadata", claim.metadata);
  field("spec", Nested{[&](auto&& spec) {
          spec("volumeName", claim.volume_name);
          spec("storageClassName", claim.storage_class);
          spec("volumeAttributesClassName", claim.volume_attributes_class);
          spec("volumeMode", claim.volume_mode, Default{"Filesystem"});
          spec("accessModes", claim.access_modes);
          spec("resources", IfAny{[&](auto&& resources) {
                 resources("requests", IfAny{[&](auto&& requests) {
                             requests("storage", claim.requested_bytes, Bytes{});
                           }});
               }});
          spec("selector", claim.selector);
        }});
  field("status", Nested{[&](auto&& status) { status("phase", claim.phase); }});
}

void fields(Of<ClaimReference> auto& claim, auto&& field) {
  field("apiVersion", "v1", OnlyWritten{});
  field("kind", "PersistentVolumeClaim", OnlyWritten{});
  field("namespace", claim.namespace_, Always{});
  field("name", claim.name, Always{});
  field("uid", claim.uid);
}

// An optional disk: a source from before CSI, of which one field is read.
struct InTree {
  const DiskSource& source;
};

void fields(Of<PersistentVolume> auto& volume, auto&& field) {
  field("metadata", volume.metadata);
  field("spec", Nested{[&](auto&& spec) {
          spec("capacity", IfAny{[&](auto&& capacity) {
                 capacity("storage", volume.capacity_bytes, Bytes{});
               }});
          spec("storageClassName", volume.storage_class);
          spec("volumeAttributesClassName", volume.volume_attributes_class);
          spec("volumeMode", volume.volume_mode, Default{"Filesystem"});
          spec("accessModes", volume.access_modes);
          spec("claimRef", volume.claim_ref);
          spec("nodeAffinity",
               IfAny{[&](auto&& affinity) { affinity("required", volume.node_affinity); }});
          spec("csi", IfAny{[&](auto&& csi) {
                 csi("driver", volume.csi_driver);
                 csi("volumeHandle", volume.csi_volume_handle);
               }});
          for (const DiskSource& source : kDiskSources) {
            if (source.has_driver) spec(source.name, volume.in_tree_disk, InTree{source});
          }
        }});
  field("status", Nested{[&](auto&& status) { status("phase", volume.phase); }});
}

// An optional node selector: a list of corev1.TopologySelectorTerm.
struct Topologies {};
auto one_of_values(auto& requirement) {
  return Nested{[&](auto&& topology) {
    topology("key", requirement.key, Always{});
    topology("values", requirement.values, Always{});
  }};
}

void fields(Of<StorageClass> auto& storage_class, auto&& field) {
  field("metadata", storage_class.metadata);
  field("provisioner", storage_class.provisioner, Always{});
  field("volumeBindingMode", storage_class.binding_mode);
  field("allowedTopologies", storage_class.allowed_topologies, Topologies{});
}

void fields(Of<CsiNode::Driver> auto& driver, auto&& field) {
  field("name", driver.name, Always{});
  field("allocatable",
        IfAny{[&](auto&& allocatable) { allocatable("count", driver.allocatable_count); }});
}

void fields(Of<CsiNode> auto& node, auto&& field) {
  field("metadata", node.metadata);
  field("spec", Nested{[&](auto&& spec) { spec("drivers", node.drivers, Always{}); }});
}

void fields(Of<CsiDriver> auto& driver, auto&& field) {
  field("metadata", driver.metadata);
  field("spec", Nested{[&](auto&& spec) {
          spec("storageCapacity", driver.storage_capacity);
          spec("preventPodSchedulingIfMissing", driver.prevents_if_missing);
        }});
}

void fields(Of<CsiStorageCapacity> auto& capacity, auto&& field) {
  field("metadata", capacity.metadata);
  field("storageClassName", capacity.storage_class, Always{});
  field("nodeTopology", capacity.node_topology);
  field("capacity", capacity.capacity_bytes, Bytes{});
  field("maximumVolumeSize", capacity.maximum_volume_bytes, Bytes{});
}

void fields(Of<VolumeAttachment> auto& attachment, auto&& field) {
  field("metadata", attachment.metadata);
  field("spec", Nested{[&](auto&& spec) {
          spec("attacher", attachment.attacher, Always{});
          spec("nodeName", attachment.node, Always{});
          spec("source",
               Nested{[&](auto&& source) { source("persistentVolumeName", attachment.volume); }});
        }});
}

}  // namespace k8s
