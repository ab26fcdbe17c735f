#include "k8s-client/api/pod.h"

#include <algorithm>

namespace k8s {

// Source: k8s.io/api/core/v1/toleration.go, ToleratesTaint.
bool Toleration::tolerates(const Taint& taint) const {
  if (effect && (*effect == TaintEffect::kUnknown || *effect != taint.effect)) return false;
  if (!key.empty() && key != taint.key) return false;
  switch (op) {
    case TolerationOperator::kEqual:
      return value == taint.value;
    case TolerationOperator::kExists:
      return true;
    case TolerationOperator::kLt:
    case TolerationOperator::kGt:
    case TolerationOperator::kUnknown:
      break;
  }
  return false;
}

const PodCondition* Pod::condition(std::string_view type) const {
  const auto at = std::find_if(status.conditions.begin(), status.conditions.end(),
                               [&](const auto& condition) { return condition.type == type; });
  return at == status.conditions.end() ? nullptr : &*at;
}

}  // namespace k8s
