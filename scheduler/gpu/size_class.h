// Classes of pods by how much GPU they ask for.
//
// Source: the GPU affinity tags of the artefact of Weng et al., "Beware of Fragmentation" (ATC'23):
// shares of a GPU, 1, 2, 4 and 8 GPUs. Counts between two classes belong to the greater one.
#pragma once

#include "scheduler/gpu/demand.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sched::gpu {

enum class SizeClass : std::uint8_t { kShare, kOne, kTwo, kFour, kEight };
inline constexpr std::size_t kSizeClasses = 5;

// Pods by class.
using SizeClassCounts = std::array<std::uint32_t, kSizeClasses>;

// nullopt: the pod asks for no GPU, or for MIG instances only.
[[nodiscard]] inline std::optional<SizeClass> size_class_of(const Demand& demand) {
  if (demand.milli == 0) return std::nullopt;
  if (demand.is_share()) return SizeClass::kShare;
  if (demand.gpus == 1) return SizeClass::kOne;
  if (demand.gpus == 2) return SizeClass::kTwo;
  return demand.gpus <= 4 ? SizeClass::kFour : SizeClass::kEight;
}

}  // namespace sched::gpu
