// Every way to partition a GPU, listed and counted: an 8-slice GPU has 723 states of its plain
// profiles.
#include "scheduler/gpu/mig/geometry.h"
#include "scheduler/gpu/product.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

using namespace sched::gpu;
using mig::Geometry;
using mig::Profile;

namespace {

struct Placement {
  const Profile* profile = nullptr;
  unsigned start = 0;
};

// A set of instances that can be on one GPU together, by start.
using State = std::vector<Placement>;

DeviceUse with(DeviceUse use, const Placement& placement) {
  const DeviceShare taken = mig::instance_at(*placement.profile, 0, placement.start);
  use.slices = static_cast<std::uint16_t>(use.slices | taken.slices);
  use.extras = static_cast<std::uint16_t>(use.extras | taken.extras);
  return use;
}

bool may_begin(const Profile& profile, const DeviceUse& use, unsigned start) {
  return (unsigned{mig::legal_starts(profile, use)} >> start & 1U) != 0;
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

// All states of instances of these profiles, which belong to one geometry of `slices` slices; the
// empty state first.
std::vector<State> states(unsigned slices, const std::vector<const Profile*>& profiles) {
  return Walk(slices, profiles).all();
}

// What the instances of `state` take.
DeviceUse use_of(const State& state) {
  DeviceUse use;
  for (const Placement& placement : state) use = with(use, placement);
  return use;
}

// The states to which no further instance of these profiles can be added.
std::vector<State> maximal_states(unsigned slices, const std::vector<const Profile*>& profiles) {
  std::vector<State> found = states(slices, profiles);
  std::erase_if(found, [&](const State& state) {
    const DeviceUse use = use_of(state);
    return std::any_of(profiles.begin(), profiles.end(), [&](const Profile* profile) {
      return mig::legal_starts(*profile, use) != 0;
    });
  });
  return found;
}

// The profiles of a geometry that are not variants of others.
std::vector<const Profile*> plain_profiles(const Geometry& geometry) {
  std::vector<const Profile*> plain;
  for (const Profile& profile : geometry.profiles) {
    if (!profile.is_variant) plain.push_back(&profile);
  }
  return plain;
}

const Geometry& a100() { return *geometry_of("NVIDIA-A100-SXM4-80GB"); }
const Geometry& a30() { return *geometry_of("NVIDIA-A30"); }
const Geometry& rtx() { return *geometry_of("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"); }

std::vector<const Profile*> without(std::vector<const Profile*> profiles, std::string_view name) {
  std::erase_if(profiles, [&](const Profile* profile) { return profile->name == name; });
  return profiles;
}

// How many instances of each profile.
std::map<const Profile*, int> counts(const State& state) {
  std::map<const Profile*, int> of;
  for (const Placement& placement : state) ++of[placement.profile];
  return of;
}

}  // namespace

TEST_CASE("There are as many ways to partition a GPU as plain enumeration finds") {
  struct Case {
    const char* name;
    const Geometry& geometry;
    std::vector<const Profile*> profiles;
    std::size_t states;
    std::size_t maximal;
    std::size_t count_vectors;
    std::size_t masks;
  };
  const std::vector<Case> cases = {
      {"8 slices without double memory", a100(), without(plain_profiles(a100()), "1g.20gb"), 298,
       19, 38, 144},
      {"8 slices", a100(), plain_profiles(a100()), 723, 78, 78, 192},
      {"A30", a30(), plain_profiles(a30()), 26, 5, 10, 16},
      {"RTX PRO 6000", rtx(), plain_profiles(rtx()), 26, 5, 10, 16},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const std::vector<State> all = states(each.geometry.slices, each.profiles);
    CHECK(all.size() == each.states);
    CHECK(maximal_states(each.geometry.slices, each.profiles).size() == each.maximal);
    std::set<std::map<const Profile*, int>> vectors;
    std::set<unsigned> masks;
    for (const State& state : all) {
      vectors.insert(counts(state));
      masks.insert(use_of(state).slices);
    }
    CHECK(vectors.size() == each.count_vectors);
    CHECK(masks.size() == each.masks);
  }
}

TEST_CASE("Runs that do not overlap respect every maximum") {
  for (const Geometry& geometry : mig::geometries()) {
    INFO(geometry.model);
    std::vector<const Profile*> all;
    int most_compute = 0;
    for (const Profile& profile : geometry.profiles) {
      all.push_back(&profile);
      most_compute = std::max<int>(most_compute, profile.compute_slices);
    }
    std::map<const Profile*, int> reached;
    bool within = true;
    for (const State& state : states(geometry.slices, all)) {
      int compute = 0;
      for (const auto& [profile, count] : counts(state)) {
        within = within && count <= profile->max_instances;
        reached[profile] = std::max(reached[profile], count);
        compute += count * profile->compute_slices;
      }
      within = within && compute <= most_compute;
    }
    CHECK(within);
    for (const Profile* profile : all) {
      INFO(profile->name);
      CHECK(reached[profile] == profile->max_instances);
    }
  }
}
