#include "scheduler/engine/world/disruption_budgets.h"

#include "scheduler/framework/long_lists.h"

#include <algorithm>
#include <utility>

namespace sched {

bool DisruptionBudgets::Budget::counts(const k8s::StringMap& labels, std::string_view name) const {
  return selector.matches(labels) && !gone.contains(name);
}

void DisruptionBudgets::Budget::take(std::string_view name, By by) {
  --left;
  gone.emplace(name, by);
}

void DisruptionBudgets::upsert(k8s::PodDisruptionBudget budget) {
  const std::string namespace_ = budget.metadata.namespace_;
  const std::string& name = budget.metadata.name;
  if (!budget.selector || !budget.selector->is_valid()) return erase(namespace_, name);
  Budget& known = budgets_[namespace_][name];
  std::string& version = budget.metadata.resource_version;
  if (!known.version.empty() && known.version == version) return;
  ++version_;
  known = {.version = std::move(version),
           .selector = *std::move(budget.selector),
           .left = budget.disruptions_allowed,
           .gone = {}};
  for (std::string& pod : budget.disrupted_pods) known.gone.emplace(std::move(pod), By::kServer);
  const auto evicted = evicted_.find(namespace_);
  if (evicted == evicted_.end()) return;
  for (const auto& [pod, labels] : evicted->second) {
    if (known.counts(labels, pod)) known.take(pod, By::kEarlierEviction);
  }
}

void DisruptionBudgets::erase(const std::string& namespace_, const std::string& name) {
  const auto budgets = budgets_.find(namespace_);
  if (budgets == budgets_.end() || budgets->second.erase(name) == 0) return;
  ++version_;
  if (budgets->second.empty()) budgets_.erase(budgets);
}

void DisruptionBudgets::set_readable(bool readable) {
  if (std::exchange(readable_, readable) != readable) ++version_;
}

DisruptionBudgets::Violations DisruptionBudgets::violated_by(const std::vector<Pod>& pods) const {
  Violations violations{.by = std::vector<bool>(pods.size(), false)};
  std::map<const Budget*, std::int64_t> left;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const auto budgets = budgets_.find(pods[i].pod_class.namespace_);
    if (budgets == budgets_.end()) continue;
    for (const auto& [name, budget] : budgets->second) {
      violations.compared += 1 + parts_of(budget.selector);
      if (!budget.counts(pods[i].pod_class.labels, pods[i].name)) continue;
      if (--left.try_emplace(&budget, budget.left).first->second < 0) violations.by[i] = true;
    }
  }
  return violations;
}

void DisruptionBudgets::evicted(const Pod& pod) {
  const PodClass& of = pod.pod_class;
  const std::string name(pod.name);
  if (!evicted_[of.namespace_].emplace(name, of.labels).second) return;
  const auto budgets = budgets_.find(of.namespace_);
  if (budgets == budgets_.end()) return;
  ++version_;
  for (auto& [_, budget] : budgets->second) {
    if (budget.counts(of.labels, name)) budget.take(name, By::kEviction);
  }
}

void DisruptionBudgets::gone(const Pod& pod) { over(pod, {By::kEarlierEviction}); }

void DisruptionBudgets::stays(const Pod& pod) { over(pod, {By::kEarlierEviction, By::kEviction}); }

void DisruptionBudgets::over(const Pod& pod, std::initializer_list<By> given_back) {
  const std::string& namespace_ = pod.pod_class.namespace_;
  const auto evicted = evicted_.find(namespace_);
  if (evicted == evicted_.end()) return;
  const auto found = evicted->second.find(pod.name);
  if (found == evicted->second.end()) return;
  evicted->second.erase(found);
  if (evicted->second.empty()) evicted_.erase(evicted);
  const auto budgets = budgets_.find(namespace_);
  if (budgets == budgets_.end()) return;
  for (auto& [_, budget] : budgets->second) {
    const auto taken = budget.gone.find(pod.name);
    if (taken == budget.gone.end()) continue;
    if (std::find(given_back.begin(), given_back.end(), taken->second) == given_back.end())
      continue;
    budget.gone.erase(taken);
    ++budget.left;
    ++version_;
  }
}

}  // namespace sched
