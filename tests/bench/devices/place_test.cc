#include "bench/devices/place.h"

#include "bench/devices/choose.h"
#include "scheduler/gpu/product.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

using namespace bench;
using namespace sched::gpu;
using mig::Geometry;
using mig::Profile;

namespace {

const Geometry& a100() { return *geometry_of("NVIDIA-A100-SXM4-80GB"); }

Demand instances(std::int64_t count, const char* profile) {
  return {.gpus = 0, .milli = 0, .instances = {{profile, count}}, .products = {}};
}

using Shares = std::vector<DeviceShare>;

}  // namespace

TEST_CASE("Instances go to the fullest GPU with a place, and there to the highest start") {
  struct Case {
    const char* name;
    Demand asked;
    DeviceUses uses;
    std::int64_t devices;
    std::optional<Shares> want;
  };
  const std::vector<Case> cases = {
      {"an empty GPU", instances(1, "3g.40gb"), {}, 1, {{{.device = 0, .slices = 0xf0}}}},
      {"the fuller one",
       instances(1, "2g.20gb"),
       {{}, {.slices = 0xf0}},
       2,
       {{{.device = 1, .slices = 0x0c}}}},
      {"the fuller one has no place",
       instances(1, "4g.40gb"),
       {{}, {.slices = 0x01}},
       2,
       {{{.device = 0, .slices = 0x0f}}}},
      {"as full: the one with the higher start",
       instances(1, "1g.10gb"),
       {{.slices = 0xf0}, {.slices = 0x0f}},
       2,
       {{{.device = 1, .slices = 0x40}}}},
      {"all the same: the first",
       instances(1, "1g.10gb"),
       {},
       3,
       {{{.device = 0, .slices = 0x40}}}},
      {"a shared GPU is not partitioned",
       instances(1, "1g.10gb"),
       {{.milli = 10}},
       1,
       std::nullopt},
      {"several",
       instances(3, "3g.40gb"),
       {},
       2,
       {{{.device = 0, .slices = 0xf0},
         {.device = 0, .slices = 0x0f},
         {.device = 1, .slices = 0xf0}}}},
      {"too many", instances(5, "3g.40gb"), {}, 2, std::nullopt},
      {"a second +me", instances(2, "1g.10gb.me"), {}, 1, std::nullopt},
      {"an unknown profile", instances(1, "3g.20gb"), {}, 1, std::nullopt},
      {"no GPU", instances(1, "1g.10gb"), {}, 0, std::nullopt},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const NodeDevices node{each.uses, each.devices, &a100()};
    CHECK(choose_devices(each.asked, node) == each.want);
    CHECK(fits_devices(each.asked, node) == each.want.has_value());
  }
}

TEST_CASE("A GPU that is partitioned is neither shared nor given whole, and the other way around") {
  const DeviceUses partitioned = {{.slices = 0x40}};
  const NodeDevices node{partitioned, 1, &a100()};
  CHECK_FALSE(fits_devices({.gpus = 1, .milli = 1000, .instances = {}, .products = {}}, node));
  CHECK_FALSE(fits_devices({.gpus = 1, .milli = 10, .instances = {}, .products = {}}, node));
  CHECK_FALSE(fits_devices(instances(1, "1g.10gb"), {partitioned, 1, nullptr}));
}

TEST_CASE(
    "The starts of one profile never overlap, so instances of it never stand in their own way") {
  for (const Geometry& geometry : mig::geometries()) {
    for (const Profile& profile : geometry.profiles) {
      INFO(geometry.model << " " << profile.name);
      unsigned taken = 0;
      for (unsigned start = 0; start < geometry.slices; ++start) {
        if ((unsigned{profile.starts} >> start & 1U) == 0) continue;
        CHECK((taken & mig::slices_at(profile, start)) == 0);
        taken |= mig::slices_at(profile, start);
      }
      CHECK(room_for(profile, DeviceUse{}) == profile.max_instances);
    }
  }
}

namespace {

// Instances on a few GPUs of one model, written down without bit masks.
class Ledger {
 public:
  Ledger(const Geometry& geometry, std::int64_t gpus) : geometry_(geometry), gpus_(gpus) {}

  // No slice is held twice, no profile comes more often than it may, and the uses are what the
  // instances take together.
  bool holds(const DeviceUses& uses) const {
    std::map<std::pair<std::uint32_t, unsigned>, int> slices;
    std::map<std::pair<std::uint32_t, const Profile*>, int> counts;
    DeviceUses sum(static_cast<std::size_t>(gpus_));
    for (const auto& [profile, share] : held_) {
      for (unsigned slice = 0; slice < 16; ++slice) {
        if ((unsigned{share.slices} >> slice & 1U) == 0) continue;
        if (slice >= geometry_.slices || ++slices[{share.device, slice}] > 1) return false;
      }
      if (++counts[{share.device, profile}] > profile->max_instances) return false;
      add(sum, share);
    }
    return sum == uses;
  }

  std::vector<std::pair<const Profile*, DeviceShare>> held_;

 private:
  const Geometry& geometry_;
  std::int64_t gpus_;
};

}  // namespace

TEST_CASE("No sequence of placements and departures overfills a GPU, and undoing restores it") {
  constexpr std::int64_t kGpus = 3;
  for (const Geometry& geometry : mig::geometries()) {
    INFO(geometry.model);
    std::mt19937 random(7);
    const auto below = [&](std::size_t bound) { return random() % bound; };
    Ledger ledger(geometry, kGpus);
    DeviceUses uses(kGpus);
    bool held = true;
    bool undone = true;
    for (int i = 0; i < 2'000; ++i) {
      if (!ledger.held_.empty() && below(5) < 2) {
        const auto gone = ledger.held_.begin() + static_cast<int>(below(ledger.held_.size()));
        subtract(uses, gone->second);
        ledger.held_.erase(gone);
      } else {
        const Profile& profile = geometry.profiles[below(geometry.profiles.size())];
        const auto placed = place(profile, 1, uses, kGpus);
        CHECK(placed.has_value() == (room_for(profile, uses, kGpus) > 0));
        if (!placed) continue;
        const DeviceUses before = uses;
        add(uses, placed->front());
        DeviceUses back = uses;
        subtract(back, placed->front());
        undone = undone && back == before;
        ledger.held_.emplace_back(&profile, placed->front());
      }
      held = held && ledger.holds(uses);
    }
    CHECK(held);
    CHECK(undone);
  }
}
