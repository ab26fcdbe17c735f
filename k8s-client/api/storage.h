// Persistent volumes and claims, as far as they tie a pod to nodes.
#pragma once

#include "k8s-client/api/meta.h"
#include "k8s-client/api/selector.h"

#include <optional>
#include <string>
#include <vector>

namespace k8s {

struct PersistentVolumeClaim {
  ObjectMeta metadata;
  std::string volume_name;  // empty: unbound
  std::string storage_class;
  std::vector<std::string> access_modes;
  std::string phase;  // "Pending", "Bound", "Lost"
  friend bool operator==(const PersistentVolumeClaim&, const PersistentVolumeClaim&) = default;
};

struct PersistentVolume {
  ObjectMeta metadata;
  std::optional<NodeSelector> node_affinity;  // spec.nodeAffinity.required
  std::string csi_driver;                     // spec.csi.driver; empty: another kind of volume
  std::vector<std::string> access_modes;
  friend bool operator==(const PersistentVolume&, const PersistentVolume&) = default;
};

}  // namespace k8s
