#include "plugins/default_preemption/default_preemption.h"

namespace plugins {

sched::PluginInstance make_default_preemption(k8s::yaml::ObjectReader& args) {
  // The limits are kube-scheduler's.
  args.integer("minCandidateNodesPercentage", {.min = 0, .max = 100});
  args.integer("minCandidateNodesAbsolute", {.min = 0});
  sched::PluginInstance instance;
  instance.preemption = {
      .evicts_bare_pods = args.boolean("evictBarePods").value_or(false),
      .violates_budgets = args.boolean("violateDisruptionBudgets").value_or(false)};
  return instance;
}

}  // namespace plugins
