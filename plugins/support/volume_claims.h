// The claims that a pod's volumes need.
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/api/storage.h"
#include "scheduler/framework/cluster_change.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plugins {

using ClaimKey = std::pair<std::string, std::string>;  // namespace, name
// A tree: users choose the names, and could make hashes collide.
template <typename Value>
using ByClaim = std::map<ClaimKey, Value>;

[[nodiscard]] inline ClaimKey key_of(const k8s::ObjectMeta& claim) {
  return {claim.namespace_, claim.name};
}

// The claim of one volume; nullopt: it needs none. The claim of an ephemeral volume is made for the
// pod.
[[nodiscard]] inline std::optional<ClaimKey> claim_of(const k8s::Pod& pod,
                                                      const k8s::Volume& volume) {
  switch (volume.kind) {
    case k8s::Volume::Kind::kPersistentVolumeClaim:
      return ClaimKey{pod.metadata.namespace_, volume.claim_name};
    case k8s::Volume::Kind::kEphemeral:
      return ClaimKey{pod.metadata.namespace_, pod.metadata.name + "-" + volume.name};
    case k8s::Volume::Kind::kDisk:
    case k8s::Volume::Kind::kUnknown:
      break;
  }
  return std::nullopt;
}

// The claims of all volumes, in their order.
[[nodiscard]] inline std::vector<ClaimKey> claims_of(const k8s::Pod& pod) {
  std::vector<ClaimKey> all;
  for (const k8s::Volume& volume : pod.spec.volumes) {
    if (auto claim = claim_of(pod, volume)) all.push_back(*std::move(claim));
  }
  return all;
}

// The claims that volumes name, in their order: not those that are made for ephemeral volumes,
// which kube-scheduler leaves out in VolumeZone and VolumeRestrictions.
[[nodiscard]] inline std::vector<ClaimKey> named_claims_of(const k8s::Pod& pod) {
  std::vector<ClaimKey> all;
  for (const k8s::Volume& volume : pod.spec.volumes) {
    if (volume.kind == k8s::Volume::Kind::kPersistentVolumeClaim) {
      all.emplace_back(pod.metadata.namespace_, volume.claim_name);
    }
  }
  return all;
}

// Equal only for pods that mount the same claims and disks, in the same order.
[[nodiscard]] std::string volumes_key(const k8s::Pod& pod);

// A claim is bound when the volume controller has marked it so.
[[nodiscard]] inline bool is_bound(const k8s::PersistentVolumeClaim& claim) {
  return !claim.volume_name.empty() &&
         claim.metadata.annotations.find("pv.kubernetes.io/bind-completed") != nullptr;
}

// The objects that a pod waits for if it waits for the claim.
[[nodiscard]] inline sched::ObjectKey awaited(const ClaimKey& claim) {
  return sched::object_key<k8s::PersistentVolumeClaim>(claim.second, claim.first);
}

// kube-scheduler's words.
[[nodiscard]] inline std::string claim_not_found(std::string_view name) {
  return "persistentvolumeclaim \"" + std::string(name) + "\" not found";
}

}  // namespace plugins
