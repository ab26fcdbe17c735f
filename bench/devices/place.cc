#include "bench/devices/place.h"

#include <bit>

namespace bench {

using namespace sched::gpu;
using mig::Profile;

namespace {

DeviceUse use_of(const DeviceUses& uses, std::int64_t device) {
  const auto index = static_cast<std::size_t>(device);
  return index < uses.size() ? uses[index] : DeviceUse{};
}

std::optional<DeviceShare> best_place(const Profile& profile, const DeviceUses& uses,
                                      std::int64_t devices) {
  std::optional<DeviceShare> best;
  int best_taken = -1;
  int best_start = -1;
  for (std::int64_t i = 0; i < devices; ++i) {
    const DeviceUse use = use_of(uses, i);
    const int start = std::bit_width(mig::legal_starts(profile, use)) - 1;
    if (start < 0) continue;
    const int taken = std::popcount(use.slices);
    if (taken < best_taken || (taken == best_taken && start <= best_start)) continue;
    best = mig::instance_at(profile, static_cast<std::uint32_t>(i), static_cast<unsigned>(start));
    best_taken = taken;
    best_start = start;
  }
  return best;
}

}  // namespace

std::int64_t room_for(const Profile& profile, const DeviceUse& use) {
  const int starts = std::popcount(mig::legal_starts(profile, use));
  // Legal starts of one profile never overlap; but what a GPU has once goes to one instance.
  return profile.extras != 0 && starts > 0 ? 1 : starts;
}

std::int64_t room_for(const Profile& profile, const DeviceUses& uses, std::int64_t devices) {
  std::int64_t room = 0;
  for (std::int64_t i = 0; i < devices; ++i) room += room_for(profile, use_of(uses, i));
  return room;
}

std::optional<std::vector<DeviceShare>> place(const Profile& profile, std::int64_t instances,
                                              const DeviceUses& uses, std::int64_t devices) {
  DeviceUses now = uses;
  std::vector<DeviceShare> taken;
  for (std::int64_t i = 0; i < instances; ++i) {
    const auto best = best_place(profile, now, devices);
    if (!best) return std::nullopt;
    add(now, *best);
    taken.push_back(*best);
  }
  return taken;
}

}  // namespace bench
