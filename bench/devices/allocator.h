// The allocator of replays: the pieces of a node's nvidia.com/gpu are its devices, pods may ask for
// shares of one, and devices are chosen by the rules of choose.h.
#pragma once

#include "scheduler/framework/device_allocator.h"

#include <memory>

namespace bench {

// Never null.
[[nodiscard]] std::shared_ptr<const sched::DeviceAllocator> device_allocator();

}  // namespace bench
