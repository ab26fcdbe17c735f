// GpuPackingScore: uses what is begun, on a GPU first, then on a node, before it begins anew.
//
// A baseline of Weng et al., "Beware of Fragmentation" (ATC'23), under the name that it has in
// their artefact; the project's own packing is GpuPacking. For a pod with GPU:
//
//   all GPUs of the node are free, f of them:   max(33 − f, f)
//   it would begin u free GPUs of a used node:  max(50 − u, 33)
//   it fits on a GPU in use:                    max(100 − (its free per cent) / 10, 50)
//
// A share is reckoned on the fullest GPU that has room, which is where it goes. For pods without
// GPU and MIG instances it has nothing to say. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace bench {

[[nodiscard]] sched::PluginInstance make_gpu_packing_score(k8s::yaml::ObjectReader& args);

}  // namespace bench
