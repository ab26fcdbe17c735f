// GPUs kept one by one: what is taken of each device of a node, and what a pod takes.
//
// On a live node GPUs are only counted: the device plugin does not report which GPU it gave to a
// pod. In a replay the engine chooses the devices, so there it keeps them apart: shares of one GPU
// in thousandths, MIG instances by the memory slices that they occupy. Integers only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sched::gpu {

inline constexpr std::int64_t kMilliPerGpu = 1'000;
// The most devices of one node that are kept one by one.
inline constexpr std::size_t kMaxDevices = 64;

// What is taken of one device. At most one of `milli` and `slices` is above zero: a GPU is shared
// in thousandths or partitioned into MIG instances, never both.
struct DeviceUse {
  std::int32_t milli = 0;    // 0 … 1,000; a whole GPU is 1,000
  std::uint16_t slices = 0;  // bit i: memory slice i belongs to a MIG instance
  std::uint16_t extras = 0;  // one bit for each thing that a GPU has once (media engines of "+me")

  [[nodiscard]] bool is_free() const { return milli == 0 && slices == 0; }
  friend bool operator==(const DeviceUse&, const DeviceUse&) = default;
};

// What one pod takes of one device: exactly one of `milli` and `slices` is above zero.
struct DeviceShare {
  std::uint32_t device = 0;  // index on its node
  std::int32_t milli = 0;
  std::uint16_t slices = 0;
  std::uint16_t extras = 0;
  friend bool operator==(const DeviceShare&, const DeviceShare&) = default;
};

// By index; devices beyond the end are free.
using DeviceUses = std::vector<DeviceUse>;

inline void add(DeviceUses& uses, const DeviceShare& share) {
  if (uses.size() <= share.device) uses.resize(share.device + 1);
  DeviceUse& use = uses[share.device];
  use.milli += share.milli;
  use.slices = static_cast<std::uint16_t>(use.slices | share.slices);
  use.extras = static_cast<std::uint16_t>(use.extras | share.extras);
}

// `share` was added before.
inline void subtract(DeviceUses& uses, const DeviceShare& share) {
  DeviceUse& use = uses[share.device];
  use.milli -= share.milli;
  use.slices = static_cast<std::uint16_t>(use.slices & ~share.slices);
  use.extras = static_cast<std::uint16_t>(use.extras & ~share.extras);
}

}  // namespace sched::gpu
