// DefaultPreemption: pods that no node takes make room by evicting pods of lower priority
// (scheduler/engine/actions/preempt.h). Off unless a profile enables it, since it ends running
// pods.
//
// Arguments: `evictBarePods` (false), `violateDisruptionBudgets` (false); both true is what
// kube-scheduler does. Its own minCandidateNodesPercentage and minCandidateNodesAbsolute are
// accepted and have no effect: every node is tried.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_default_preemption(k8s::yaml::ObjectReader& args);

}  // namespace plugins
