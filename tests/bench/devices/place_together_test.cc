// Instances of several profiles on one node: the search finds a place for all exactly where there
// is one.
#include "bench/devices/place_together.h"

#include "bench/devices/choose.h"
#include "scheduler/gpu/product.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

using namespace bench;
using namespace sched::gpu;
using mig::Geometry;
using mig::Profile;

namespace {

const Geometry& a100() { return *geometry_of("NVIDIA-A100-SXM4-80GB"); }

using Asked = std::vector<InstanceDemand>;
using Shares = std::vector<DeviceShare>;

// Every order and every place, without any cleverness.
bool fits_somehow(std::vector<const Profile*> left, const DeviceUses& uses) {
  if (left.empty()) return true;
  const Profile& profile = *left.back();
  left.pop_back();
  for (std::size_t device = 0; device < uses.size(); ++device) {
    for (unsigned starts = mig::legal_starts(profile, uses[device]); starts != 0;
         starts &= starts - 1) {
      DeviceUses with = uses;
      add(with, mig::instance_at(profile, static_cast<std::uint32_t>(device),
                                 static_cast<unsigned>(std::countr_zero(starts))));
      if (fits_somehow(left, with)) return true;
    }
  }
  return false;
}

// Some instances that came at random and stay.
DeviceUses random_uses(const Geometry& geometry, std::mt19937& random, std::size_t devices) {
  DeviceUses uses(devices);
  for (auto instances = random() % 5; instances > 0; --instances) {
    const Profile& profile = geometry.profiles[random() % geometry.profiles.size()];
    const auto device = static_cast<std::uint32_t>(random() % devices);
    const unsigned starts = mig::legal_starts(profile, uses[device]);
    if (starts == 0) continue;
    add(uses, mig::instance_at(profile, device, static_cast<unsigned>(std::countr_zero(starts))));
  }
  return uses;
}

// Whether these are the instances of `left`, on slices that were free. Two profiles can take the
// same slices, so any way of telling which is which will do.
bool are_instances_of(const std::vector<const Profile*>& left, const Shares& shares,
                      const DeviceUses& uses) {
  if (shares.empty()) return left.empty();
  const DeviceShare& share = shares.back();
  const auto start = static_cast<unsigned>(std::countr_zero(share.slices));
  for (std::size_t i = 0; i < left.size(); ++i) {
    if ((unsigned{mig::legal_starts(*left[i], uses[share.device])} >> start & 1U) == 0) continue;
    if (mig::instance_at(*left[i], share.device, start) != share) continue;
    std::vector<const Profile*> rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    DeviceUses with = uses;
    add(with, share);
    if (are_instances_of(rest, {shares.begin(), shares.end() - 1}, with)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("Instances of several profiles go where all of them have room") {
  struct Case {
    const char* name;
    Asked asked;
    DeviceUses uses;
    std::int64_t devices;
    std::optional<Shares> want;
  };
  const std::vector<Case> cases = {
      {"the large one leaves room for the small one, whatever the order",
       {{"1g.10gb", 1}, {"4g.40gb", 1}},
       {},
       1,
       {{{.device = 0, .slices = 0x0f}, {.device = 0, .slices = 0x40}}}},
      {"what begins in one place only goes first",
       {{"3g.40gb", 1}, {"4g.40gb", 1}},
       {},
       1,
       {{{.device = 0, .slices = 0x0f}, {.device = 0, .slices = 0xf0}}}},
      {"on several GPUs, the fullest first",
       {{"7g.80gb", 1}, {"1g.10gb", 2}},
       {{}, {.slices = 0xf0}},
       2,
       {{{.device = 0, .slices = 0xff},
         {.device = 1, .slices = 0x08},
         {.device = 1, .slices = 0x04}}}},
      {"the rule's first choice leaves no room for the last: another is found",
       {{"1g.20gb", 1}, {"1g.10gb", 8}},
       {{.slices = 0xfc}},
       2,
       {{{.device = 1, .slices = 0xc0},
         {.device = 0, .slices = 0x02},
         {.device = 0, .slices = 0x01},
         {.device = 1, .slices = 0x20},
         {.device = 1, .slices = 0x10},
         {.device = 1, .slices = 0x08},
         {.device = 1, .slices = 0x04},
         {.device = 1, .slices = 0x02},
         {.device = 1, .slices = 0x01}}}},
      {"each has room, together they have not",
       {{"4g.40gb", 1}, {"1g.20gb", 3}},
       {},
       1,
       std::nullopt},
      {"too many of one", {{"1g.10gb", 8}, {"1g.20gb", 1}}, {}, 1, std::nullopt},
      {"absurdly many", {{"1g.10gb", INT64_MAX}, {"1g.20gb", INT64_MAX}}, {}, 8, std::nullopt},
      {"another model's profile", {{"1g.10gb", 1}, {"1g.5gb", 1}}, {}, 1, std::nullopt},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const NodeDevices node{each.uses, each.devices, &a100()};
    const Demand demand{.gpus = 0, .milli = 0, .instances = each.asked, .products = {}};
    CHECK(choose_devices(demand, node) == each.want);
    CHECK(fits_devices(demand, node) == each.want.has_value());
  }
}

TEST_CASE("Whole GPUs and shares of the same pod leave the rest for its instances") {
  const Demand demand{.gpus = 1, .milli = 1'000, .instances = {{"7g.80gb", 1}}, .products = {}};
  const DeviceUses partitioned = {{.slices = 0x40}};
  CHECK(choose_devices(demand, {partitioned, 3, &a100()}) ==
        Shares{{.device = 1, .milli = 1'000}, {.device = 2, .slices = 0xff}});
  CHECK_FALSE(fits_devices(demand, {partitioned, 2, &a100()}));
  const Demand share{.gpus = 1, .milli = 300, .instances = {{"1g.10gb", 1}}, .products = {}};
  CHECK(choose_devices(share, {partitioned, 2, &a100()}) ==
        Shares{{.device = 1, .milli = 300}, {.device = 0, .slices = 0x20}});
  CHECK_FALSE(fits_devices(share, {partitioned, 1, &a100()}));
}

TEST_CASE("A place for all is found exactly where there is one") {
  std::mt19937 random(GENERATE(range(1U, 9U)));
  for (const Geometry& geometry : mig::geometries()) {
    INFO(geometry.model);
    for (int i = 0; i < 40; ++i) {
      const DeviceUses uses = random_uses(geometry, random, 1 + random() % 2);
      std::vector<InstanceRequest> requests;
      std::vector<const Profile*> asked;
      for (auto kinds = 2 + random() % 2; kinds > 0; --kinds) {
        const Profile& profile = geometry.profiles[random() % geometry.profiles.size()];
        if (std::any_of(requests.begin(), requests.end(),
                        [&](const auto& each) { return each.profile == &profile; })) {
          continue;
        }
        requests.push_back({&profile, static_cast<std::int64_t>(1 + random() % 2)});
        asked.insert(asked.end(), static_cast<std::size_t>(requests.back().count), &profile);
      }
      const auto found =
          place_together(geometry, requests, uses, static_cast<std::int64_t>(uses.size()));
      REQUIRE(found.has_value() == fits_somehow(asked, uses));
      if (found) REQUIRE(are_instances_of(asked, *found, uses));
    }
  }
}
