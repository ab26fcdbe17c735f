// Chooses the devices of pods one by one, if that is the scheduler's task.
//
// On a live cluster the device plugin chooses them on the node and does not report which. There
// devices are only counted, and there is no allocator. A replay keeps every device (bench/devices).
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

  // How many devices of such a node are kept one by one, ≤ gpu::kMaxDevices; this becomes
  // NodeFacts::gpu_devices.
  [[nodiscard]] virtual std::int64_t devices_of(const NodeFacts& node) const = 0;

  // What a pod of that shape takes of the node's devices, if no score of its profile has chosen
  // (NodeScore::choose_device). Empty: it takes none, or it does not fit.
  [[nodiscard]] virtual std::vector<gpu::DeviceShare> allocate(const PodShape& shape,
                                                               const NodeView& node) const = 0;
};

}  // namespace sched
