#include "bench/policies/mig_placement/rules.h"

#include <bit>

namespace bench {

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

// How much more the slices that would be filled count than those that could be filled.
constexpr std::int64_t kFillWeight = 6;

std::int64_t value_for(MigValue value, const mig::Profile& profile, int free,
                       std::uint16_t starts) {
  switch (value) {
    case MigValue::kConfigurations:
      return std::popcount(starts);
    case MigValue::kUnblocked:
      return -blocked(profile, free, starts);
    case MigValue::kUsable:
      return usable(profile, starts) - free;
    case MigValue::kNone:
    case MigValue::kFill:
      break;
  }
  return 0;
}

// The value of a GPU of which `occupied` is taken, as a sum over its profiles.
std::int64_t sum_of_values(MigValue value, const mig::Geometry& geometry,
                           const std::vector<const mig::Profile*>& profiles,
                           std::uint16_t occupied) {
  const DeviceUse use{.milli = 0, .slices = occupied, .extras = 0};
  const int free = geometry.slices - std::popcount(occupied);
  std::int64_t sum = 0;
  for (const mig::Profile* profile : profiles) {
    sum += value_for(value, *profile, free, mig::legal_starts(*profile, use));
  }
  return sum;
}

std::vector<std::int32_t> table_of(MigValue value, const mig::Geometry& geometry) {
  const std::vector<const mig::Profile*> profiles = plain_profiles(geometry);
  std::vector<std::int32_t> table(std::size_t{1} << geometry.slices);
  if (value == MigValue::kFill) {
    const std::vector<std::int64_t> fill = expected_fill(geometry);
    for (std::size_t mask = 0; mask < table.size(); ++mask) {
      const std::int64_t usable =
          sum_of_values(MigValue::kUsable, geometry, profiles, static_cast<std::uint16_t>(mask));
      table[mask] = static_cast<std::int32_t>(usable * kFillScale + kFillWeight * fill[mask]);
    }
    return table;
  }
  for (std::size_t mask = 0; mask < table.size(); ++mask) {
    table[mask] = static_cast<std::int32_t>(
        sum_of_values(value, geometry, profiles, static_cast<std::uint16_t>(mask)));
  }
  return table;
}

}  // namespace

std::vector<const mig::Profile*> plain_profiles(const mig::Geometry& geometry) {
  std::vector<const mig::Profile*> plain;
  for (const mig::Profile& profile : geometry.profiles) {
    if (!profile.is_variant) plain.push_back(&profile);
  }
  return plain;
}

const std::vector<MigRule>& mig_rules() {
  static const std::vector<MigRule> kRules = {
      {"first-fit"},
      {"best-fit", MigValue::kNone, GpuOrder::kFullest},
      {"best-fit-high", MigValue::kNone, GpuOrder::kFullest, StartOrder::kHighest},
      {"worst-fit", MigValue::kNone, GpuOrder::kEmptiest},
      {"max-configurations", MigValue::kConfigurations},
      {"mfi", MigValue::kUnblocked, GpuOrder::kFullest},
      {"slice-fgd", MigValue::kUsable, GpuOrder::kFullest},
      {"expected-fill", MigValue::kFill, GpuOrder::kFullest},
  };
  return kRules;
}

MigLoss::MigLoss(MigValue value) {
  for (const mig::Geometry& geometry : mig::geometries()) {
    values_.push_back(table_of(value, geometry));
  }
}

}  // namespace bench
