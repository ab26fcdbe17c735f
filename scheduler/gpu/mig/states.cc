#include "scheduler/gpu/mig/states.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sched::gpu::mig {

namespace {

DeviceUse with(DeviceUse use, const Placement& placement) {
  const DeviceShare taken = instance_at(*placement.profile, 0, placement.start);
  use.slices = static_cast<std::uint16_t>(use.slices | taken.slices);
  use.extras = static_cast<std::uint16_t>(use.extras | taken.extras);
  return use;
}

bool may_begin(const Profile& profile, const DeviceUse& use, unsigned start) {
  return (unsigned{legal_starts(profile, use)} >> start & 1U) != 0;
}

// Goes over the slices from left to right; at each slice either nothing begins or one of the
// instances that may begin there. So each state is found once.
class Walk {
 public:
  Walk(unsigned slices, const std::vector<const Profile*>& profiles)
      : slices_(slices), profiles_(profiles) {}

  std::vector<State> all() {
    from(0, {});
    return std::move(found_);
  }

 private:
  void from(unsigned slice, const DeviceUse& use) {
    if (slice >= slices_) {
      found_.push_back(state_);
      return;
    }
    from(slice + 1, use);
    for (const Profile* profile : profiles_) {
      if (!may_begin(*profile, use, slice)) continue;
      state_.push_back({profile, slice});
      from(slice + profile->memory_slices, with(use, state_.back()));
      state_.pop_back();
    }
  }

  unsigned slices_;
  const std::vector<const Profile*>& profiles_;
  State state_;
  std::vector<State> found_;
};

}  // namespace

std::vector<State> states(unsigned slices, const std::vector<const Profile*>& profiles) {
  return Walk(slices, profiles).all();
}

DeviceUse use_of(const State& state) {
  DeviceUse use;
  for (const Placement& placement : state) use = with(use, placement);
  return use;
}

std::vector<State> maximal_states(unsigned slices, const std::vector<const Profile*>& profiles) {
  std::vector<State> found = states(slices, profiles);
  std::erase_if(found, [&](const State& state) {
    const DeviceUse use = use_of(state);
    return std::any_of(profiles.begin(), profiles.end(),
                       [&](const Profile* profile) { return legal_starts(*profile, use) != 0; });
  });
  return found;
}

std::vector<const Profile*> plain_profiles(const Geometry& geometry) {
  std::vector<const Profile*> plain;
  for (const Profile& profile : geometry.profiles) {
    if (!profile.is_variant) plain.push_back(&profile);
  }
  return plain;
}

}  // namespace sched::gpu::mig
