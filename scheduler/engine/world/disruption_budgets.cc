#include "scheduler/engine/world/disruption_budgets.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sched {

bool DisruptionBudgets::Budget::counts(const Pod& pod) const {
  const k8s::StringMap& labels = pod.pod_class.labels;
  return !labels.empty() && selector.matches(labels) &&
         !std::binary_search(gone.begin(), gone.end(), pod.name);
}

void DisruptionBudgets::upsert(k8s::PodDisruptionBudget budget) {
  ++version_;
  k8s::ObjectMeta& metadata = budget.metadata;
  const auto& selector = budget.selector;
  if (!selector || selector->empty() || !selector->is_valid()) {
    return erase(metadata.namespace_, metadata.name);
  }
  Budget& known = by_namespace_[metadata.namespace_][metadata.name];
  if (!known.version.empty() && known.version == metadata.resource_version) return;
  known = {.version = std::move(metadata.resource_version),
           .selector = *std::move(budget.selector),
           .left = budget.disruptions_allowed,
           .gone = std::move(budget.disrupted_pods)};
}

void DisruptionBudgets::erase(const std::string& namespace_, const std::string& name) {
  ++version_;
  const auto budgets = by_namespace_.find(namespace_);
  if (budgets == by_namespace_.end()) return;
  budgets->second.erase(name);
  if (budgets->second.empty()) by_namespace_.erase(budgets);
}

std::vector<bool> DisruptionBudgets::violated_by(const std::vector<Pod>& pods) const {
  std::vector<bool> violated(pods.size(), false);
  if (none()) return violated;
  std::map<const Budget*, std::int64_t> left;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const auto budgets = by_namespace_.find(pods[i].pod_class.namespace_);
    if (budgets == by_namespace_.end()) continue;
    for (const auto& [name, budget] : budgets->second) {
      if (!budget.counts(pods[i])) continue;
      if (--left.try_emplace(&budget, budget.left).first->second < 0) violated[i] = true;
    }
  }
  return violated;
}

void DisruptionBudgets::evicted(const Pod& pod) {
  ++version_;
  const auto budgets = by_namespace_.find(pod.pod_class.namespace_);
  if (budgets == by_namespace_.end()) return;
  for (auto& [name, budget] : budgets->second) {
    if (!budget.counts(pod)) continue;
    --budget.left;
    budget.gone.insert(std::lower_bound(budget.gone.begin(), budget.gone.end(), pod.name),
                       std::string(pod.name));
  }
}

}  // namespace sched
