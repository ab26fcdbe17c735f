// InterPodAffinity made from its arguments as a struct, for tests.
#pragma once

#include "scheduler/framework/registry.h"

#include <cstdint>

namespace plugins {

// kube-scheduler's arguments, with its defaults.
struct InterPodAffinityArgs {
  std::int32_t hard_pod_affinity_weight = 1;  // 0 … 100
  // The preferred terms of other pods do not affect a pod without preferred terms.
  bool ignore_preferred_terms_of_existing_pods = false;
};
[[nodiscard]] sched::PluginInstance make_inter_pod_affinity(const InterPodAffinityArgs& args);

}  // namespace plugins
