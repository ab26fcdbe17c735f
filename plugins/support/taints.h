// Taints that keep pods off a node, and tolerations of them.
#pragma once

#include "k8s-client/api/pod.h"

#include <algorithm>
#include <vector>

namespace plugins {

// The first of the taints with the effect NoSchedule or NoExecute that is not tolerated; null:
// none.
[[nodiscard]] inline const k8s::Taint* first_untolerated(
    const std::vector<k8s::Taint>& taints, const std::vector<k8s::Toleration>& tolerations) {
  const auto found = std::find_if(taints.begin(), taints.end(), [&](const k8s::Taint& taint) {
    const bool keeps_pods_off = taint.effect == k8s::TaintEffect::kNoSchedule ||
                                taint.effect == k8s::TaintEffect::kNoExecute;
    return keeps_pods_off &&
           std::none_of(tolerations.begin(), tolerations.end(),
                        [&](const k8s::Toleration& each) { return each.tolerates(taint); });
  });
  return found == taints.end() ? nullptr : &*found;
}

}  // namespace plugins
