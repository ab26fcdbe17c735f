// A pod's spec and status as nlohmann values. Included by the .cc files of encoding only.
#pragma once

#include "k8s-client/api/encode/common_json.h"
#include "k8s-client/api/pod.h"

namespace k8s::json {

[[nodiscard]] Json to_json(const Pod::Spec& spec);
[[nodiscard]] Json to_json(const Pod::Status& status);

[[nodiscard]] Json to_json(const NodeAffinity& affinity);
[[nodiscard]] Json to_json(const PodAffinity& affinity);
[[nodiscard]] Json to_json(const TopologySpreadConstraint& constraint);

}  // namespace k8s::json
