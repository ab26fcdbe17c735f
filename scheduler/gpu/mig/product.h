// From a node's product label to the MIG geometry of its GPUs.
//
// The label nvidia.com/gpu.product holds the marketing name with its blanks turned into dashes, in
// as many spellings as there are boards ("NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-80GB-PCIe",
// "A100-SXM4-40GB"), and a suffix where GPUs are shared or cut ("-SHARED", "-MIG-1g.10gb"). So a
// model is recognised by the words in it, never by the whole text. A name that leaves the model
// open is not guessed at.
#pragma once

#include "scheduler/gpu/mig/geometry.h"

#include <string_view>

namespace sched::gpu::mig {

// nullptr: a GPU without MIG, or one whose geometry is not known.
[[nodiscard]] const Geometry* geometry_of(std::string_view product);

}  // namespace sched::gpu::mig
