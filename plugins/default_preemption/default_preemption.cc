// DefaultPreemption: pods that no node takes make room by evicting pods of lower priority, or pods
// on GPUs that their quotas have borrowed (scheduler/engine/actions/preempt.h). Off unless a
// profile enables it, since it ends running pods.
//
// Arguments: `evictBarePods` (false), `violateDisruptionBudgets` (false); both true is what
// kube-scheduler does. `reclaimWithinCohort` (LowerPriority; Never, Any) and
// `reclaimMinRuntimeSeconds` (0; with Any alone): docs/preemption.md. kube-scheduler's own
// minCandidateNodesPercentage and minCandidateNodesAbsolute are accepted and have no effect: every
// node is tried.
#include "plugins/factories.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace plugins {
namespace {

using Reclaims = sched::Preemption::Reclaims;

constexpr std::int64_t kLongestRuntime = 366L * 24 * 60 * 60;

Reclaims reclaims(k8s::yaml::ObjectReader& args) {
  const std::string word =
      args.one_of("reclaimWithinCohort", {"Never", "LowerPriority", "Any"}).value_or("");
  if (word == "Never") return Reclaims::kNever;
  return word == "Any" ? Reclaims::kAny : Reclaims::kLowerPriority;
}

}  // namespace

sched::PluginInstance make_default_preemption(k8s::yaml::ObjectReader& args) {
  // The limits are kube-scheduler's.
  args.integer("minCandidateNodesPercentage", {.min = 0, .max = 100});
  args.integer("minCandidateNodesAbsolute", {.min = 0});
  const sched::Preemption made = {
      .evicts_bare_pods = args.boolean("evictBarePods").value_or(false),
      .violates_budgets = args.boolean("violateDisruptionBudgets").value_or(false),
      .reclaims = reclaims(args),
      .reclaim_min_runtime = std::chrono::seconds(
          args.integer("reclaimMinRuntimeSeconds", {.min = 0, .max = kLongestRuntime})
              .value_or(0))};
  if (made.reclaims != Reclaims::kAny && made.reclaim_min_runtime.count() > 0) {
    args.complain("reclaimMinRuntimeSeconds", "has no effect unless reclaimWithinCohort is Any");
  }
  return {.preemption = made};
}

}  // namespace plugins
