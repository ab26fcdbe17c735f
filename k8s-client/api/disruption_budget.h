// policy/v1 PodDisruptionBudget, for one purpose: to count how many of the pods that it covers may
// go.
#pragma once

#include "k8s-client/api/kind.h"
#include "k8s-client/api/meta.h"
#include "k8s-client/api/selector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k8s {

struct PodDisruptionBudget {
  static constexpr ObjectKind kKind{"PodDisruptionBudget", "policy/v1", "poddisruptionbudgets",
                                    kNamespaced};
  ObjectMeta metadata;
  // Of the pods of its namespace; absent: of none.
  std::optional<LabelSelector> selector;
  // status.disruptionsAllowed: how many more pods may go now; 0 until a controller has set it.
  std::int32_t disruptions_allowed = 0;
  // The keys of status.disruptedPods, sorted, each once: names of pods whose eviction the API
  // server has allowed and disruptions_allowed counts already.
  std::vector<std::string> disrupted_pods;

  friend bool operator==(const PodDisruptionBudget&, const PodDisruptionBudget&) = default;
};

}  // namespace k8s
