// GpuClustering: puts pods that ask for as much GPU as each other on the same nodes.
//
// A baseline of Weng et al., "Beware of Fragmentation" (ATC'23), as its artefact reckons it. Pods
// are of a class by what they ask for (scheduler/gpu/size_class.h). With those that the node holds:
//
//   of the pod's class only    75      none with GPU          25
//   of that and others         50      of other classes only   0
//
// plus 25 · (8,000 − free milli-GPU) / 8,000, rounded down and not below 0, so that the fuller (or
// smaller) node comes first. A share of a GPU goes to the fullest device that has room. For pods
// without GPU and MIG instances it has nothing to say. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace bench {

[[nodiscard]] sched::PluginInstance make_gpu_clustering(k8s::yaml::ObjectReader& args);

}  // namespace bench
