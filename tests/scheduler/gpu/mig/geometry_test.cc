#include "scheduler/gpu/mig/geometry.h"

#include "tests/scheduler/gpu/mig/model.h"
#include "tests/support/catch.h"

#include <set>
#include <string>
#include <vector>

using namespace sched::gpu;
using mig::Geometry;
using mig::Profile;
using tests::model;

namespace {

const Profile& profile(std::string_view geometry, std::string_view name) {
  const Profile* found = model(geometry).find(name);
  INFO(geometry << " " << name);
  REQUIRE(found != nullptr);
  return *found;
}

// Bit s for each start.
unsigned starts(std::initializer_list<unsigned> all) {
  unsigned bits = 0;
  for (const unsigned start : all) bits |= 1U << start;
  return bits;
}

}  // namespace

TEST_CASE("A profile's slices, starts and maximum are those of its model") {
  struct Case {
    const char* model;
    const char* profile;
    int compute;
    int memory;
    int max;
    unsigned starts;
  };
  const std::vector<Case> cases = {
      {"A100-80GB", "7g.80gb", 7, 8, 1, starts({0})},
      {"A100-80GB", "4g.40gb", 4, 4, 1, starts({0})},
      {"A100-80GB", "3g.40gb", 3, 4, 2, starts({0, 4})},
      {"A100-80GB", "2g.20gb", 2, 2, 3, starts({0, 2, 4})},
      {"A100-80GB", "1g.20gb", 1, 2, 4, starts({0, 2, 4, 6})},
      {"A100-80GB", "1g.10gb", 1, 1, 7, starts({0, 1, 2, 3, 4, 5, 6})},
      {"A100-80GB", "1g.10gb+me", 1, 1, 1, starts({0, 1, 2, 3, 4, 5, 6})},
      // The same name, another thing: the double-memory profile.
      {"A100-40GB", "1g.10gb", 1, 2, 4, starts({0, 2, 4, 6})},
      {"A100-40GB", "1g.5gb", 1, 1, 7, starts({0, 1, 2, 3, 4, 5, 6})},
      {"A100-40GB", "2g.10gb", 2, 2, 3, starts({0, 2, 4})},
      // Where the mocks of NVIDIA's own library have other sizes than the machines.
      {"H100-80GB", "3g.40gb", 3, 4, 2, starts({0, 4})},
      {"H100-80GB", "7g.80gb", 7, 8, 1, starts({0})},
      {"H100-80GB", "1g.20gb", 1, 2, 4, starts({0, 2, 4, 6})},
      {"H200-141GB", "3g.71gb", 3, 4, 2, starts({0, 4})},
      {"B200-180GB", "1g.45gb", 1, 2, 4, starts({0, 2, 4, 6})},
      {"H100-94GB", "3g.47gb", 3, 4, 2, starts({0, 4})},
      {"H100-96GB", "3g.48gb", 3, 4, 2, starts({0, 4})},
      {"H100-64GB", "1g.8gb", 1, 1, 7, starts({0, 1, 2, 3, 4, 5, 6})},
      {"H100-64GB", "1g.16gb", 1, 2, 4, starts({0, 2, 4, 6})},
      {"H100-64GB", "7g.64gb", 7, 8, 1, starts({0})},
      {"GH200-144GB", "2g.36gb", 2, 2, 3, starts({0, 2, 4})},
      {"GB200-186GB", "3g.93gb", 3, 4, 2, starts({0, 4})},
      {"GB200-186GB", "3g.95gb", 3, 4, 2, starts({0, 4})},
      {"GB200-186GB", "7g.189gb", 7, 8, 1, starts({0})},
      {"GB200-189GB", "3g.95gb", 3, 4, 2, starts({0, 4})},
      {"GB200-189GB", "3g.93gb", 3, 4, 2, starts({0, 4})},
      {"GB200-189GB", "1g.23gb.me", 1, 1, 1, starts({0, 1, 2, 3, 4, 5, 6})},
      {"B300-269GB", "4g.135gb", 4, 4, 1, starts({0})},
      {"GB300-278GB", "1g.35gb+me", 1, 1, 1, starts({0, 1, 2, 3, 4, 5, 6})},
      {"GB300-278GB", "3g.126gb", 3, 4, 2, starts({0, 4})},
      {"GB300-251GB", "1g.31gb", 1, 1, 7, starts({0, 1, 2, 3, 4, 5, 6})},
      {"GB300-251GB", "2g.63gb", 2, 2, 3, starts({0, 2, 4})},
      {"GB300-251GB", "7g.251gb", 7, 8, 1, starts({0})},
      {"GB300-251GB", "1g.35gb.me", 1, 1, 1, starts({0, 1, 2, 3, 4, 5, 6})},
      {"A30-24GB", "1g.6gb", 1, 1, 4, starts({0, 1, 2, 3})},
      {"A30-24GB", "2g.12gb", 2, 2, 2, starts({0, 2})},
      {"A30-24GB", "2g.12gb+me", 2, 2, 1, starts({0, 2})},
      {"A30-24GB", "4g.24gb", 4, 4, 1, starts({0})},
      // Not all GPUs have eight slices.
      {"RTX-PRO-6000-96GB", "1g.24gb", 1, 3, 4, starts({0, 3, 6, 9})},
      {"RTX-PRO-6000-96GB", "1g.24gb-me", 1, 3, 4, starts({0, 3, 6, 9})},
      {"RTX-PRO-6000-96GB", "2g.48gb+me.all", 2, 6, 1, starts({0, 6})},
      {"RTX-PRO-6000-96GB", "4g.96gb+gfx", 4, 12, 1, starts({0})},
      // The same name once more: half a GPU.
      {"RTX-PRO-5000-48GB", "1g.24gb", 1, 1, 2, starts({0, 1})},
      {"RTX-PRO-5000-48GB", "1g.24gb+me", 1, 1, 1, starts({0, 1})},
      {"RTX-PRO-5000-48GB", "1g.24gb-me", 1, 1, 2, starts({0, 1})},
      {"RTX-PRO-5000-48GB", "2g.48gb", 2, 2, 1, starts({0})},
      {"RTX-PRO-4500-32GB", "1g.16gb", 1, 1, 2, starts({0, 1})},
      {"RTX-PRO-4500-32GB", "1g.16gb+me.all", 1, 1, 1, starts({0, 1})},
      {"RTX-PRO-4500-32GB", "2g.32gb+gfx", 2, 2, 1, starts({0})},
  };
  for (const Case& each : cases) {
    INFO(each.model << " " << each.profile);
    const Profile& found = profile(each.model, each.profile);
    CHECK(found.compute_slices == each.compute);
    CHECK(found.memory_slices == each.memory);
    CHECK(found.max_instances == each.max);
    CHECK(found.starts == each.starts);
  }
}

TEST_CASE("A profile is found by NVIDIA's name and as a resource writes it, on its models only") {
  const Geometry& a100 = model("A100-80GB");
  CHECK(a100.find("1g.10gb.me") == a100.find("1g.10gb+me"));
  CHECK(a100.find("1g.10gb.me") != a100.find("1g.10gb"));
  const Geometry& rtx = model("RTX-PRO-6000-96GB");
  CHECK(rtx.find("1g.24gb.me.all") == rtx.find("1g.24gb+me.all"));
  CHECK(rtx.find("1g.24gb-me") != nullptr);
  for (const char* unknown : {"", "1g", "3g.20gb", "1g.10gb.", "1g.10gb.me.all", "1c.3g.40gb",
                              "1g.10gb.shared", "1g.10gb-me"}) {
    INFO(unknown);
    CHECK(a100.find(unknown) == nullptr);
  }

  CHECK(mig::resource_of(*a100.find("3g.40gb")) == "nvidia.com/mig-3g.40gb");
  CHECK(mig::resource_of(*a100.find("1g.10gb+me")) == "nvidia.com/mig-1g.10gb.me");
  CHECK(mig::resource_of(*rtx.find("1g.24gb-me")) == "nvidia.com/mig-1g.24gb-me");

  CHECK(model("RTX-PRO-4500-32GB").find("1g.16gb+me") == nullptr);

  const mig::ProfileByModel wanted("1g.10gb");
  CHECK(wanted.on(&a100)->memory_slices == 1);
  CHECK(wanted.on(&model("A100-40GB"))->memory_slices == 2);
  CHECK(wanted.on(&model("A30-24GB")) == nullptr);
  CHECK(wanted.on(nullptr) == nullptr);
}

TEST_CASE("An instance begins where its run of slices is free") {
  struct Case {
    const char* name;
    const char* profile;
    DeviceUse use;
    unsigned want;
  };
  const std::vector<Case> cases = {
      {"an empty GPU", "3g.40gb", {}, starts({0, 4})},
      {"its lower half taken", "3g.40gb", {.slices = 0x0f}, starts({4})},
      {"one slice in each half", "3g.40gb", {.slices = 0x11}, 0},
      {"four slices free in a row, but not at a start", "3g.40gb", {.slices = 0xc3}, 0},
      {"4g has one start only", "4g.40gb", {.slices = 0x01}, 0},
      {"2g does not begin at 6", "2g.20gb", {.slices = 0x3f}, 0},
      {"1g with double memory does", "1g.20gb", {.slices = 0x3f}, starts({6})},
      {"the last slice holds no plain 1g", "1g.10gb", {.slices = 0x7f}, 0},
      {"7g wants all eight", "7g.80gb", {.slices = 0x80}, 0},
      {"a shared GPU is not partitioned", "1g.10gb", {.milli = 100}, 0},
      {"a whole GPU that is taken", "1g.10gb", {.milli = 1000}, 0},
      {"one +me", "1g.10gb+me", {.slices = 0x01}, starts({1, 2, 3, 4, 5, 6})},
      {"no second +me", "1g.10gb+me", {.slices = 0x01, .extras = mig::kOnlyEngines}, 0},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(mig::legal_starts(profile("A100-80GB", each.profile), each.use) == each.want);
  }
}

TEST_CASE("Media engines go once: to the instance that has them all, or to each its own") {
  constexpr const char* kModel = "RTX-PRO-6000-96GB";
  struct Case {
    const char* there;  // at 0
    const char* asked;
    unsigned want;
  };
  const std::vector<Case> cases = {
      {"1g.24gb", "1g.24gb", starts({3, 6, 9})},
      {"1g.24gb", "1g.24gb+me", starts({3, 6, 9})},
      {"1g.24gb", "1g.24gb+me.all", 0},
      {"1g.24gb-me", "1g.24gb+me.all", starts({3, 6, 9})},
      {"1g.24gb+me", "1g.24gb+me", 0},
      {"1g.24gb+me", "2g.48gb", starts({6})},
      {"1g.24gb+me.all", "1g.24gb", 0},
      {"1g.24gb+me.all", "2g.48gb+gfx", 0},
      {"1g.24gb+me.all", "1g.24gb-me", starts({3, 6, 9})},
      {"2g.48gb+me.all", "2g.48gb-me", starts({6})},
  };
  for (const Case& each : cases) {
    INFO(each.there << ", then " << each.asked);
    DeviceUses uses;
    add(uses, mig::instance_at(profile(kModel, each.there), 0, 0));
    CHECK(mig::legal_starts(profile(kModel, each.asked), uses[0]) == each.want);
  }
  // The two of an A30 share the one JPEG engine.
  DeviceUses uses;
  add(uses, mig::instance_at(profile("A30-24GB", "1g.6gb+me"), 0, 0));
  CHECK(mig::legal_starts(profile("A30-24GB", "2g.12gb+me"), uses[0]) == 0);
}

TEST_CASE("Geometries are in order: indices, starts inside the GPU, names once") {
  for (const Geometry& geometry : mig::geometries()) {
    INFO(geometry.model);
    CHECK(&mig::geometries()[geometry.index] == &geometry);
    std::set<std::string> names;
    bool variants = false;
    for (const Profile& each : geometry.profiles) {
      INFO(each.name);
      CHECK(names.insert(each.name).second);
      CHECK(each.starts != 0);
      CHECK(each.compute_slices >= 1);
      for (unsigned start = 0; start < 16; ++start) {
        if ((each.starts >> start & 1U) != 0) CHECK(start + each.memory_slices <= geometry.slices);
      }
      CHECK((each.is_variant || !variants));
      variants = variants || each.is_variant;
    }
    for (const auto& [alias, meant] : geometry.aliases) {
      CHECK(!names.contains(alias));
      CHECK(names.contains(meant));
    }
  }
}
