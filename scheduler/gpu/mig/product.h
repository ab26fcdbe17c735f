// From a node's product label to the MIG geometry of its GPUs, for those who need nothing else of
// it (../product.h reads the label).
#pragma once

#include "scheduler/gpu/mig/geometry.h"

#include <string_view>

namespace sched::gpu::mig {

// nullptr: a GPU without MIG, or one whose geometry is not known.
[[nodiscard]] const Geometry* geometry_of(std::string_view product);

}  // namespace sched::gpu::mig
