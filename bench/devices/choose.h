// If devices are kept one by one: whether a demand fits a node's devices, and which it takes.
//
// Whole GPUs are the first free ones. A share goes to the fullest device that still has room, if
// equal the first, so that whole GPUs stay whole. MIG instances are created, when they are asked
// for, on devices that are neither shared nor taken whole (place.h), after whole GPUs and a share
// of the same pod; instances of several profiles are placed so that all have room
// (place_together.h). A score may choose another device for a pod that takes one piece
// (NodeScore::choose_device).
#pragma once

#include "scheduler/framework/node_view.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/devices.h"
#include "scheduler/gpu/mig/geometry.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bench {

// The devices of a node, and what is taken of them.
struct NodeDevices {
  const sched::gpu::DeviceUses& uses;  // may be shorter than `count`
  std::int64_t count = 0;              // ≤ sched::gpu::kMaxDevices
  // Of the GPU model; null: MIG instances do not fit.
  const sched::gpu::mig::Geometry* geometry = nullptr;

  [[nodiscard]] sched::gpu::DeviceUse use(std::size_t device) const {
    return device < uses.size() ? uses[device] : sched::gpu::DeviceUse{};
  }
};

// The view outlives the result.
[[nodiscard]] inline NodeDevices node_devices(const sched::NodeView& node) {
  return {node.usage.devices, node.facts.gpu_devices, node.facts.gpu.product.geometry};
}

// What the pod takes, by the rules above; nullopt: it does not fit. Empty for pods without GPU.
[[nodiscard]] std::optional<std::vector<sched::gpu::DeviceShare>> choose_devices(
    const sched::gpu::Demand& demand, const NodeDevices& node);

// Whether it fits, without computing what it takes.
[[nodiscard]] bool fits_devices(const sched::gpu::Demand& demand, const NodeDevices& node);

}  // namespace bench
