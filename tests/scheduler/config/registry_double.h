// Plugins that do nothing but show what the configuration made of them.
#pragma once

#include "scheduler/framework/registry.h"

namespace sched::test {

// TaintToleration (filter, score 3), NodeAffinity (filter, score 2), NodePorts (filter),
// NodeResourcesFit (filter, score 1, args), GpuPacking (score 1), Alternative (filter, score 1, off
// by default), UnsupportedConstraints (constraint). The filters' and scores' names carry the
// arguments: "NodeResourcesFit/MostAllocated".
[[nodiscard]] const Registry& registry_double();

}  // namespace sched::test
