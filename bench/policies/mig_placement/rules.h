// The rules by which MigPlacement can choose a place for an instance.
//
// A place is a GPU and a start on it. Every rule is: lose as little as possible of a certain value
// of the GPU, then a preference among GPUs, then one among starts. The value is a function of the
// occupied slices, so it is a table of 2^slices entries per model, and rating a place is two
// look-ups. Variants (+me and such) are not counted: they are placed where their plain profiles
// are.
//
//   first-fit           the first GPU with a place, its lowest start
//   best-fit            the GPU with the fewest free slices, its lowest start
//   best-fit-high       of the GPUs with the fewest free slices the one with the highest start
//   worst-fit           the GPU with the most free slices, its lowest start: spreads
//   max-configurations  keeps the most legal (profile, start) pairs
//   mfi                 least growth of the slices of blocked starts, over the profiles that still
//                       fit the number of free slices; an own reading of "minimum fragmentation
//                       increment" (arXiv 2511.18906)
//   slice-fgd           least growth of Σ over profiles of the free slices that no legal start of
//                       that profile covers: fragmentation gradient descent (Weng et al., ATC'23)
//                       on slices, every profile equally likely
//   expected-fill       keeps the most of the same sum and of the slices that would be filled by
//                       random further instances, until none fits (expected_fill below); this
//                       project's own rule
//
// The last three prefer the fuller GPU if they lose equally much. Round-robin is not here: it needs
// the next node in turn, and a score is computed from one node.
#pragma once

#include "scheduler/gpu/devices.h"
#include "scheduler/gpu/mig/geometry.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace bench {

enum class MigValue : std::uint8_t { kNone, kConfigurations, kUnblocked, kUsable, kFill };
enum class GpuOrder : std::uint8_t { kAny, kFullest, kEmptiest };
enum class StartOrder : std::uint8_t { kLowest, kHighest };

struct MigRule {
  std::string_view name;
  MigValue keeps = MigValue::kNone;
  GpuOrder gpus = GpuOrder::kAny;
  StartOrder starts = StartOrder::kLowest;
};

// The names of these rules.
[[nodiscard]] const std::vector<MigRule>& mig_rules();

// The value that is lost when slices become occupied, for every model. Built once: O(2^slices).
class MigLoss {
 public:
  explicit MigLoss(MigValue value);

  // From `before` to `after`, both sets of occupied slices. May be negative, if useless slices are
  // taken. At most kMost in absolute value.
  static constexpr std::int64_t kMost = std::int64_t{1} << 20;
  [[nodiscard]] std::int64_t of(const sched::gpu::mig::Geometry& geometry, std::uint16_t before,
                                std::uint16_t after) const {
    const std::vector<std::int32_t>& values = values_[geometry.index];
    return values[before] - values[after];
  }

 private:
  std::vector<std::vector<std::int32_t>> values_;  // by geometry, by occupied slices
};

// The profiles of a geometry that are not variants of others.
[[nodiscard]] std::vector<const sched::gpu::mig::Profile*> plain_profiles(
    const sched::gpu::mig::Geometry& geometry);

// Into how many parts a slice is divided for the expected fill.
inline constexpr std::int64_t kFillScale = 1'000;

// How much of a GPU further MIG instances would fill, by occupied slices: 2^slices entries, in
// kFillScale-ths of a slice, rounded down. Assume that nothing leaves and requests come until none
// fits any more; each asks for one of the plain profiles that still fit, with a probability
// proportional to its slices, and is placed where it leaves the most to be filled. The average
// number of slices that are filled at the end shows how useful the free ones are: not only whether
// a profile fits, but also what is left after it. O(2^slices · starts).
[[nodiscard]] std::vector<std::int64_t> expected_fill(const sched::gpu::mig::Geometry& geometry);

}  // namespace bench
