#include "scheduler/engine/world/disruption_budgets.h"

#include "scheduler/framework/long_lists.h"

#include <algorithm>
#include <utility>

namespace sched {

std::size_t DisruptionBudgets::size_of(const Budget& budget) {
  return 1 + parts_of(budget.selector);
}

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
  OfNamespace& of = budgets_[namespace_];
  const auto [found, is_new] = of.by_name.try_emplace(name);
  Budget& known = found->second;
  std::string& version = budget.metadata.resource_version;
  if (!known.version.empty() && known.version == version) return;
  ++version_;
  const std::size_t before = of.size;
  if (!is_new) of.size -= size_of(known);
  known = {.version = std::move(version),
           .selector = *std::move(budget.selector),
           .left = budget.disruptions_allowed,
           .gone = {}};
  of.size += size_of(known);
  for (std::string& pod : budget.disrupted_pods) known.gone.emplace(std::move(pod), By::kServer);
  resized(namespace_, of, before);
  if (!of.are_too_many()) count_evicted(namespace_, known);
}

void DisruptionBudgets::erase(const std::string& namespace_, const std::string& name) {
  const auto of = budgets_.find(namespace_);
  if (of == budgets_.end()) return;
  const auto known = of->second.by_name.find(name);
  if (known == of->second.by_name.end()) return;
  ++version_;
  const std::size_t before = of->second.size;
  of->second.size -= size_of(known->second);
  of->second.by_name.erase(known);
  if (of->second.by_name.empty()) {
    budgets_.erase(of);
  } else {
    resized(namespace_, of->second, before);
  }
}

void DisruptionBudgets::count_evicted(const std::string& namespace_, Budget& budget) const {
  const auto evicted = evicted_.find(namespace_);
  if (evicted == evicted_.end()) return;
  for (const auto& [pod, labels] : evicted->second) {
    if (budget.counts(labels, pod)) budget.take(pod, By::kEarlierEviction);
  }
}

void DisruptionBudgets::resized(const std::string& namespace_, OfNamespace& budgets,
                                std::size_t before) const {
  const bool were_too_many = before > kMost;
  if (were_too_many == budgets.are_too_many()) return;
  for (auto& [_, budget] : budgets.by_name) {
    if (were_too_many) {
      count_evicted(namespace_, budget);
    } else {
      budget.left += static_cast<std::int64_t>(
          std::erase_if(budget.gone, [](const auto& each) { return each.second != By::kServer; }));
    }
  }
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
    if (budgets->second.are_too_many()) {
      ++violations.compared;
      violations.by[i] = true;
      continue;
    }
    for (const auto& [name, budget] : budgets->second.by_name) {
      violations.compared += size_of(budget);
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
  if (budgets == budgets_.end() || budgets->second.are_too_many()) return;
  ++version_;
  for (auto& [_, budget] : budgets->second.by_name) {
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
  if (budgets == budgets_.end() || budgets->second.are_too_many()) return;
  for (auto& [_, budget] : budgets->second.by_name) {
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
