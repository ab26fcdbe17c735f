// DotProd: the node whose free amounts are least like what the pod asks for.
//
// A baseline of Weng et al., "Beware of Fragmentation" (ATC'23), as its artefact reckons it, after
// the dot-product alignment of Tetris (Grandl et al., SIGCOMM'14). With the free CPU and GPU of the
// node and those that the pod asks for (milli):
//
//   score = int(100 · (1 − (free cpu / 128,000 · cpu / 128,000
//                           + free gpu / 8,000 · gpu / 8,000) / 2))
//
// in exact integers, not below 0. A share of a GPU goes to the fullest device that has room. For
// MIG instances it has nothing to say. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace bench {

[[nodiscard]] sched::PluginInstance make_dot_prod(k8s::yaml::ObjectReader& args);

}  // namespace bench
