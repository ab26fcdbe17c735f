// The GPUs of a node, one by one, and how much of each is free. GPU filters and scores compute with
// this.
#pragma once

#include "scheduler/framework/node_view.h"
#include "scheduler/gpu/devices.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sched {

// Thousandths left of each device, in the order of their indices. A device that is partitioned into
// MIG instances counts as 0. A plain value on the stack.
class FreeDevices {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::int32_t operator[](std::size_t device) const { return milli_[device]; }
  void take(std::size_t device, std::int64_t milli) {
    milli_[device] -= static_cast<std::int32_t>(milli);
  }
  void push_back(std::int32_t milli) { milli_[size_++] = milli; }
  [[nodiscard]] const std::int32_t* begin() const { return milli_.data(); }
  [[nodiscard]] const std::int32_t* end() const { return milli_.data() + size_; }
  // G_n of the literature.
  [[nodiscard]] std::int64_t total() const;

 private:
  std::array<std::int32_t, gpu::kMaxDevices> milli_;  // the first size_ are set
  std::size_t size_ = 0;
};

// If devices are kept one by one, every device. If they are only counted (nvidia.com/gpu), the
// taken ones with 0, then the free ones with 1,000, kMaxDevices at most. So whole-GPU pods see the
// same in both cases. Shared GPUs and MIG instances are not included.
[[nodiscard]] FreeDevices free_devices(const NodeView& node);

// How many devices are wholly free if they are only counted, as in free_devices().
[[nodiscard]] std::int64_t whole_devices(const NodeView& node);

}  // namespace sched
