// What the tests of the configuration share: its first lines, and plugins that do nothing but show
// what the configuration made of them.
#pragma once

#include "scheduler/framework/registry.h"

#include <string_view>

namespace sched::test {

// The first two lines of a configuration.
inline constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n";

// TaintToleration (filter, score 3), NodeAffinity (filter, score 2), NodePorts (filter),
// NodeResourcesFit (filter, score 1, args), GpuPacking (score 1), Alternative (filter, score 1, off
// by default), UnsupportedConstraints (constraint). The filters' and scores' names carry the
// arguments: "NodeResourcesFit/MostAllocated".
[[nodiscard]] const Registry& registry_double();

}  // namespace sched::test
