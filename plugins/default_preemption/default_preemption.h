// DefaultPreemption: pods that no node takes make room by evicting pods of lower priority, or pods
// on GPUs that their quotas have borrowed (scheduler/engine/actions/preempt.h). Off unless a
// profile enables it, since it ends running pods.
//
// Arguments: `evictBarePods` (false), `violateDisruptionBudgets` (false); both true is what
// kube-scheduler does. `reclaimWithinCohort` (LowerPriority; Never, Any) and
// `reclaimMinRuntimeSeconds` (0; with Any alone): docs/preemption.md. kube-scheduler's own
// minCandidateNodesPercentage and minCandidateNodesAbsolute are accepted and have no effect: every
// node is tried.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_default_preemption(k8s::yaml::ObjectReader& args);

}  // namespace plugins
