#include "bench/policies/mig_placement/rules.h"

#include <algorithm>
#include <bit>

namespace bench {

namespace {

using namespace sched::gpu;

// The fill after an instance of `profile` is placed where it leaves the most.
std::int64_t best_after(const mig::Profile& profile, std::uint16_t starts, std::size_t occupied,
                        const std::vector<std::int64_t>& fill) {
  std::int64_t best = 0;
  for (unsigned left = starts; left != 0; left &= left - 1) {
    const auto start = static_cast<unsigned>(std::countr_zero(left));
    best = std::max(best, fill[occupied | mig::slices_at(profile, start)]);
  }
  return best;
}

}  // namespace

std::vector<std::int64_t> expected_fill(const mig::Geometry& geometry) {
  const std::vector<const mig::Profile*> profiles = plain_profiles(geometry);
  std::vector<std::int64_t> fill(std::size_t{1} << geometry.slices);
  // A more occupied state is a greater number, so the states that follow one are computed before
  // it.
  for (std::size_t occupied = fill.size(); occupied-- > 0;) {
    const DeviceUse use{.milli = 0, .slices = static_cast<std::uint16_t>(occupied), .extras = 0};
    std::int64_t sum = 0;
    std::int64_t weights = 0;
    for (const mig::Profile* profile : profiles) {
      const std::uint16_t starts = mig::legal_starts(*profile, use);
      if (starts == 0) continue;
      const std::int64_t slices = profile->memory_slices;
      sum += slices * (slices * kFillScale + best_after(*profile, starts, occupied, fill));
      weights += slices;
    }
    if (weights > 0) fill[occupied] = sum / weights;
  }
  return fill;
}

}  // namespace bench
