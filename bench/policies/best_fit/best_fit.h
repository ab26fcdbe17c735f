// BestFit: the node that would be left with least CPU and GPU.
//
// A baseline of Weng et al., "Beware of Fragmentation" (ATC'23), as its artefact reckons it. With c
// and g the CPU and GPU (milli) that the node would have left:
//
//   score = int(100 · (1 − (c / 128,000 + g / 8,000) / 2)), then min-max normalised to 0 … 100
//
// in exact integers. A share of a GPU goes to the fullest device that has room. Larger nodes than
// the published ones (128 CPUs, 8 GPUs) are told apart all the same. For MIG instances it has
// nothing to say. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace bench {

[[nodiscard]] sched::PluginInstance make_best_fit(k8s::yaml::ObjectReader& args);

}  // namespace bench
