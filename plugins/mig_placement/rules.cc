#include "plugins/mig_placement/rules.h"

#include "scheduler/gpu/mig/states.h"

#include <bit>

namespace plugins {

namespace {

using namespace sched::gpu;

template <class Visit>
void for_each_bit(std::uint16_t bits, const Visit& visit) {
  for (unsigned left = bits; left != 0; left &= left - 1) {
    visit(static_cast<unsigned>(std::countr_zero(left)));
  }
}

// The slices of a profile's starts that something occupies already.
int blocked(const mig::Profile& profile, int free, std::uint16_t starts) {
  if (profile.memory_slices > free) return 0;
  return profile.memory_slices * (std::popcount(profile.starts) - std::popcount(starts));
}

// The slices that instances of a profile could take.
int usable(const mig::Profile& profile, std::uint16_t starts) {
  unsigned covered = 0;
  for_each_bit(starts, [&](unsigned start) { covered |= mig::slices_at(profile, start); });
  return std::popcount(covered);
}

int value_for(MigValue value, const mig::Profile& profile, int free, std::uint16_t starts) {
  switch (value) {
    case MigValue::kNone:
      return 0;
    case MigValue::kConfigurations:
      return std::popcount(starts);
    case MigValue::kUnblocked:
      return -blocked(profile, free, starts);
    case MigValue::kUsable:
      return usable(profile, starts) - free;
  }
  return 0;
}

}  // namespace

const std::vector<MigRule>& mig_rules() {
  static const std::vector<MigRule> kRules = {
      {"first-fit"},
      {"best-fit", MigValue::kNone, GpuOrder::kFullest},
      {"best-fit-high", MigValue::kNone, GpuOrder::kFullest, StartOrder::kHighest},
      {"worst-fit", MigValue::kNone, GpuOrder::kEmptiest},
      {"max-configurations", MigValue::kConfigurations},
      {"mfi", MigValue::kUnblocked, GpuOrder::kFullest},
      {"slice-fgd", MigValue::kUsable, GpuOrder::kFullest},
  };
  return kRules;
}

std::int64_t mig_value(MigValue value, const mig::Geometry& geometry, std::uint16_t occupied) {
  DeviceUse use;
  use.slices = occupied;
  const int free = geometry.slices - std::popcount(occupied);
  std::int64_t sum = 0;
  for (const mig::Profile* profile : mig::plain_profiles(geometry)) {
    sum += value_for(value, *profile, free, mig::legal_starts(*profile, use));
  }
  return sum;
}

MigLoss::MigLoss(MigValue value) {
  for (const mig::Geometry& geometry : mig::geometries()) {
    std::vector<std::int16_t>& table = values_.emplace_back(std::size_t{1} << geometry.slices);
    if (value == MigValue::kNone) continue;
    for (std::size_t mask = 0; mask < table.size(); ++mask) {
      table[mask] =
          static_cast<std::int16_t>(mig_value(value, geometry, static_cast<std::uint16_t>(mask)));
    }
  }
}

std::int64_t MigLoss::of(const mig::Geometry& geometry, std::uint16_t before,
                         std::uint16_t after) const {
  const std::vector<std::int16_t>& table = values_[geometry.index];
  return table[before] - table[after];
}

}  // namespace plugins
