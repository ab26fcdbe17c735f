// Who gives pods their devices one by one, where that is the scheduler's to do.
//
// On a live cluster a device plugin gives them on the node and tells nobody which: there devices
// are counted, and nobody allocates. A replay knows and keeps every device (bench/devices).
#pragma once

#include "scheduler/framework/node_view.h"
#include "scheduler/framework/pod_shape.h"
#include "scheduler/gpu/devices.h"

#include <cstdint>
#include <vector>

namespace sched {

class DeviceAllocator {
 public:
  DeviceAllocator() = default;
  DeviceAllocator(const DeviceAllocator&) = delete;
  DeviceAllocator& operator=(const DeviceAllocator&) = delete;
  virtual ~DeviceAllocator() = default;

  // How many devices of such a node are kept one by one, ≤ gpu::kMaxDevices: its
  // NodeFacts::gpu_devices.
  [[nodiscard]] virtual std::int64_t devices_of(const NodeFacts& node) const = 0;

  // What a pod of that shape takes of the node's devices, unless a score of its profile chose
  // (NodeScore::choose_device). Empty: it takes none, or it does not fit.
  [[nodiscard]] virtual std::vector<gpu::DeviceShare> allocate(const PodShape& shape,
                                                               const NodeView& node) const = 0;
};

}  // namespace sched
