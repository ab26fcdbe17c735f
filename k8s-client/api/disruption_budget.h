// policy/v1 PodDisruptionBudget, for one purpose: how many pods it still lets go.
#pragma once

#include "k8s-client/api/meta.h"
#include "k8s-client/api/selector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k8s {

struct PodDisruptionBudget {
  ObjectMeta metadata;
  std::optional<LabelSelector>
      selector;                          // absent or empty: it covers no pod that preemption counts
  std::int32_t disruptions_allowed = 0;  // status.disruptionsAllowed
  // The keys of status.disruptedPods: names of pods whose eviction is already counted.
  std::vector<std::string> disrupted_pods;  // sorted
  friend bool operator==(const PodDisruptionBudget&, const PodDisruptionBudget&) = default;
};

}  // namespace k8s
