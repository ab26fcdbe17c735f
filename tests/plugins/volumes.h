// What the tests of VolumeBinding share: its reasons, and volumes and claims.
#pragma once

#include "tests/plugins/asked.h"
#include "tests/plugins/labels.h"
#include "tests/support/builders.h"

#include <cstdint>
#include <string>

namespace tests {

inline constexpr const char* kNotItsNode = "node(s) didn't match PersistentVolume's node affinity";
inline constexpr const char* kNoVolume = "node(s) didn't find available persistent volumes to bind";
inline constexpr const char* kNoRoom = "node(s) did not have enough free storage";

// A free one of the class "local".
inline k8s::PersistentVolume free_volume(const char* name, std::int64_t gi,
                                         const char* host = nullptr) {
  k8s::PersistentVolume made = volume(name);
  made.metadata.uid = std::string("uid of ") + name;
  made.metadata.resource_version = "7";
  made.storage_class = "local";
  made.phase = "Available";
  made.capacity_bytes = gi * kGi;
  if (host != nullptr) made.node_affinity = k8s::NodeSelector{{term({label(kHost).in({host})})}};
  return made;
}

inline k8s::PersistentVolumeClaim bound_claim(k8s::PersistentVolumeClaim it, const char* to) {
  it.volume_name = to;
  it.phase = "Bound";
  it.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
  it.metadata.resource_version = "9";
  return it;
}

}  // namespace tests
