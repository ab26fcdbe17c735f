// Taints that keep pods off a node, and tolerations of them.
#pragma once

#include "k8s-client/api/pod.h"

#include <algorithm>
#include <string>
#include <vector>

namespace sched {

// Whether the taint has the effect NoSchedule or NoExecute, and is not tolerated.
[[nodiscard]] inline bool keeps_off(const k8s::Taint& taint,
                                    const std::vector<k8s::Toleration>& tolerations) {
  const bool has_effect =
      taint.effect == k8s::TaintEffect::kNoSchedule || taint.effect == k8s::TaintEffect::kNoExecute;
  return has_effect &&
         std::none_of(tolerations.begin(), tolerations.end(),
                      [&](const k8s::Toleration& each) { return each.tolerates(taint); });
}

// The first of the taints that keeps pods off; null: none.
[[nodiscard]] inline const k8s::Taint* first_untolerated(
    const std::vector<k8s::Taint>& taints, const std::vector<k8s::Toleration>& tolerations) {
  const auto found = std::find_if(taints.begin(), taints.end(), [&](const k8s::Taint& taint) {
    return keeps_off(taint, tolerations);
  });
  return found == taints.end() ? nullptr : &*found;
}

// Whether the taint says that the node cannot run pods now, or is about to go. Kubernetes and
// autoscalers set such taints, and a pod should not tolerate one only to get a node.
[[nodiscard]] inline bool is_passing(const k8s::Taint& taint) {
  return taint.key.find("kubernetes.io/") != std::string::npos ||
         taint.key == "ToBeDeletedByClusterAutoscaler" || taint.key.starts_with("karpenter.sh/");
}

// The effect of a taint that keeps pods off.
[[nodiscard]] inline std::string effect_of(const k8s::Taint& taint) {
  return taint.effect == k8s::TaintEffect::kNoExecute ? "NoExecute" : "NoSchedule";
}

// As kubectl taint writes it: "dedicated=ml:NoSchedule". Of a taint that keeps pods off.
[[nodiscard]] inline std::string text_of(const k8s::Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : '=' + taint.value) + ':' + effect_of(taint);
}

// The toleration of just that taint, to be pasted into a pod's tolerations: "{key: dedicated,
// value: "ml", effect: NoSchedule}".
[[nodiscard]] inline std::string toleration_of(const k8s::Taint& taint) {
  return "{key: " + taint.key +
         (taint.value.empty() ? ", operator: Exists" : ", value: \"" + taint.value + '"') +
         ", effect: " + effect_of(taint) + '}';
}

}  // namespace sched
