// The PodDisruptionBudgets of the cluster, as preemption by priority counts them: which of the pods
// that it would evict are more than their budgets let go.
//
// A budget's number is computed by a controller and comes by the watch, so it is old for a moment
// after each eviction. The API server has the same problem with the evictions that it is asked for,
// and evicted() does here what it does there: it takes one from the number and remembers the pod's
// name, until the controller has counted again.
//
// Source: kube-scheduler 1.36, filterPodsWithPDBViolation.
#pragma once

#include "k8s-client/api/disruption_budget.h"
#include "scheduler/framework/pod_class.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

class DisruptionBudgets {
 public:
  struct Pod {
    const PodClass& pod_class;  // has its namespace and labels
    std::string_view name;
  };

  // Replaces what is known of the budget, and what evicted() took from it. Without effect if its
  // resource version is known already. A selector that is absent, empty or invalid covers no pod.
  void upsert(k8s::PodDisruptionBudget budget);
  void erase(const std::string& namespace_, const std::string& name);

  // Grows with every change of an answer.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  // No budget covers any pod.
  [[nodiscard]] bool none() const { return by_namespace_.empty(); }

  // For each of the pods, the most important first, whether it violates a budget if all of them go:
  // each takes one from every budget that covers it, and violates those where none was left. A pod
  // whose eviction a budget counts already takes nothing from it. Pods without labels are covered
  // by no budget. The order decides: of a budget with two left the first two pods are within it.
  // O(pods · budgets of their namespaces).
  [[nodiscard]] std::vector<bool> violated_by(const std::vector<Pod>& pods) const;

  // The pod is being evicted: each budget that covers it lets one pod less go, until the watch
  // brings the budget's next version. A second call for the pod changes nothing until then.
  void evicted(const Pod& pod);

 private:
  struct Budget {
    std::string version;            // metadata.resourceVersion
    k8s::LabelSelector selector;    // valid, and not empty
    std::int64_t left = 0;          // below 0: more are gone than it allows
    std::vector<std::string> gone;  // sorted: names of pods that `left` counts already

    // Whether the pod, of this namespace, would take one from it.
    [[nodiscard]] bool counts(const Pod& pod) const;
  };
  using Budgets = std::map<std::string, Budget>;  // by name

  std::uint64_t version_ = 0;
  std::map<std::string, Budgets> by_namespace_;  // no namespace is without budgets
};

}  // namespace sched
