// The parts of objects as nlohmann values. Empty fields are left out if Kubernetes leaves them out.
// Included only by the .cc files of encoding.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/meta.h"
#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/selector.h"
#include "k8s-client/api/storage.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::json {

using Json = nlohmann::ordered_json;

// An object with room for that many members: as it grows an ordered_json copies all that it has.
[[nodiscard]] Json object_for(std::size_t members);

// Of several kinds: common_json.cc.
[[nodiscard]] Json to_json(const ObjectMeta& metadata);
[[nodiscard]] Json to_json(const StringMap& map);
[[nodiscard]] Json to_json(const ResourceList& resources);
[[nodiscard]] Json to_json(const LabelSelector& selector);
[[nodiscard]] Json to_json(const NodeSelectorTerm& term);
[[nodiscard]] Json to_json(const NodeSelector& selector);
[[nodiscard]] std::string_view word(TaintEffect effect);

// Set the field unless the value is empty.
void set(Json& object, const char* key, const std::string& value);
void set(Json& object, const char* key, const std::vector<std::string>& value);
void set(Json& object, const char* key, const StringMap& value);
void set(Json& object, const char* key, const ResourceList& value);

// Of pods: pod_json.cc, affinity_json.cc.
[[nodiscard]] Json to_json(const Pod::Spec& spec);
[[nodiscard]] Json to_json(const Pod::Status& status);

[[nodiscard]] Json to_json(const NodeAffinity& affinity);
[[nodiscard]] Json to_json(const PodAffinity& affinity);
[[nodiscard]] Json to_json(const TopologySpreadConstraint& constraint);

// Of storage: storage_json.cc. The content of an object besides its kind and metadata. Patches
// write a claimRef, too.
[[nodiscard]] Json to_json(const ClaimReference& claim);
void fill(Json& object, const PersistentVolumeClaim& claim);
void fill(Json& object, const PersistentVolume& volume);
void fill(Json& object, const StorageClass& storage_class);
void fill(Json& object, const CsiNode& node);
void fill(Json& object, const CsiDriver& driver);
void fill(Json& object, const CsiStorageCapacity& capacity);
void fill(Json& object, const VolumeAttachment& attachment);

// Of GpuQuotas: gpu_quota_json.cc. Patches of their status need it, too.
[[nodiscard]] Json to_json(const GpuQuota::Spec& spec);
[[nodiscard]] Json to_json(const GpuQuota::Status& status);

}  // namespace k8s::json
