#include "scheduler/gpu/mig/states.h"

#include "scheduler/gpu/product.h"
#include "tests/support/catch.h"

#include <map>
#include <set>
#include <string>
#include <vector>

using namespace sched::gpu;
using mig::Geometry;
using mig::Profile;
using mig::State;

namespace {

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
  for (const mig::Placement& placement : state) ++of[placement.profile];
  return of;
}

}  // namespace

TEST_CASE("There are as many ways to cut a GPU as plain enumeration finds") {
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
      {"8 slices without double memory", a100(), without(mig::plain_profiles(a100()), "1g.20gb"),
       298, 19, 38, 144},
      {"8 slices", a100(), mig::plain_profiles(a100()), 723, 78, 78, 192},
      {"A30", a30(), mig::plain_profiles(a30()), 26, 5, 10, 16},
      {"RTX PRO 6000", rtx(), mig::plain_profiles(rtx()), 26, 5, 10, 16},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const std::vector<State> all = mig::states(each.geometry.slices, each.profiles);
    CHECK(all.size() == each.states);
    CHECK(mig::maximal_states(each.geometry.slices, each.profiles).size() == each.maximal);
    std::set<std::map<const Profile*, int>> vectors;
    std::set<unsigned> masks;
    for (const State& state : all) {
      vectors.insert(counts(state));
      masks.insert(mig::use_of(state).slices);
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
    for (const State& state : mig::states(geometry.slices, all)) {
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
