#include "bench/policies/mig_placement/rules.h"
#include "scheduler/gpu/product.h"
#include "tests/bench/policies/mig_node.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <bit>
#include <string>
#include <vector>

using namespace sched;
using tests::a100;
using tests::kA100;
using tests::make_plugin;
using tests::MigNode;

namespace {

k8s::Result<PluginInstance> placement(const std::string& policy) {
  return make_plugin("MigPlacement", "policy: " + policy);
}

}  // namespace

TEST_CASE("Each rule of MigPlacement takes the place that it prefers") {
  struct Case {
    const char* policy;
    const char* name;
    gpu::DeviceUses uses;
    const char* profile;
    gpu::DeviceShare want;
  };
  const gpu::DeviceUses lower_then_empty = {{.slices = 0x03}, {}};
  const std::vector<Case> cases = {
      {"first-fit",
       "the first GPU, the lowest start",
       {{}, {.slices = 0x03}},
       "1g.10gb",
       {.device = 0, .slices = 0x01}},
      {"best-fit",
       "the fullest GPU",
       {{}, {.slices = 0x03}},
       "1g.10gb",
       {.device = 1, .slices = 0x04}},
      {"best-fit-high",
       "its highest start",
       {{}, {.slices = 0x03}},
       "1g.10gb",
       {.device = 1, .slices = 0x40}},
      {"best-fit-high",
       "of those as full the one with the highest start",
       {{.slices = 0xf0}, {.slices = 0x0f}},
       "2g.20gb",
       {.device = 1, .slices = 0x30}},
      {"worst-fit", "the emptiest GPU", lower_then_empty, "1g.10gb", {.device = 1, .slices = 0x01}},
      // On an empty GPU a 1g costs the 7g, one 4g or 3g, a 2g, a 1g.20gb and a 1g.10gb; beside what
      // is there it costs less, least where it blocks nothing that the two slices do not.
      {"max-configurations",
       "where the fewest pairs go",
       {{}, {.slices = 0x11}},
       "1g.10gb",
       {.device = 1, .slices = 0x02}},
      {"mfi", "a hole", {{}, {.slices = 0x01}}, "1g.10gb", {.device = 1, .slices = 0x02}},
      {"slice-fgd", "a hole", {{}, {.slices = 0x01}}, "1g.10gb", {.device = 1, .slices = 0x02}},
      {"expected-fill", "a hole", {{}, {.slices = 0x01}}, "1g.10gb", {.device = 1, .slices = 0x02}},
      {"expected-fill",
       "a 3g leaves the lower half to a 4g",
       {{}},
       "3g.40gb",
       {.device = 0, .slices = 0xf0}},
      {"expected-fill",
       "a 1g.20gb takes the slices that hold neither 2g nor a second 1g",
       {{}},
       "1g.20gb",
       {.device = 0, .slices = 0xc0}},
  };
  for (const Case& each : cases) {
    INFO(each.policy << ": " << each.name);
    const auto made = placement(each.policy);
    REQUIRE(made);
    MigNode node(kA100, each.uses, static_cast<std::int64_t>(each.uses.size()));
    const auto prepared = node.prepare(*made->score, each.profile);
    REQUIRE(prepared);
    CHECK(prepared->choose_device(node.view()) == each.want);
    CHECK(prepared->score(node.view()) >= 0);
    CHECK(prepared->score(node.view()) <= made->score->max_score());
  }
}

TEST_CASE("Of two nodes MigPlacement scores the one with the better place higher") {
  struct Case {
    const char* policy;
    gpu::DeviceUse better;
    gpu::DeviceUse worse;
  };
  const std::vector<Case> cases = {
      {"best-fit", {.slices = 0x0f}, {}},          {"worst-fit", {}, {.slices = 0x0f}},
      {"best-fit-high", {.slices = 0x0f}, {}},     {"max-configurations", {.slices = 0x0f}, {}},
      {"mfi", {.slices = 0x0f}, {.slices = 0x01}}, {"slice-fgd", {.slices = 0x0f}, {}},
      {"expected-fill", {.slices = 0x0f}, {}},
  };
  for (const Case& each : cases) {
    INFO(each.policy);
    const auto made = placement(each.policy);
    REQUIRE(made);
    MigNode better(kA100, {each.better});
    MigNode worse(kA100, {each.worse});
    CHECK(better.prepare(*made->score, "3g.40gb")->score(better.view()) >
          worse.prepare(*made->score, "3g.40gb")->score(worse.view()));
  }
}

TEST_CASE("MigPlacement has nothing to say but of single instances on GPUs kept one by one") {
  const auto made = make_plugin("MigPlacement");
  REQUIRE(made);
  MigNode node(kA100, {});
  CHECK_FALSE(node.prepare(*made->score, "3g.40gb", "1", false));
  CHECK_FALSE(node.prepare(*made->score, "3g.40gb", "2"));
  CHECK(tests::OneNode(tests::node("n").gpus(1)).score(*made->score, tests::pod("a").gpus(1)) ==
        -1);
  const auto elsewhere = node.prepare(*made->score, "3g.20gb");
  REQUIRE(elsewhere);
  CHECK(elsewhere->score(node.view()) == 0);
  CHECK(elsewhere->choose_device(node.view()) == std::nullopt);
  CHECK_FALSE(placement("round-robin"));
}

TEST_CASE("What is lost of a GPU is what its values say") {
  using bench::MigLoss;
  using bench::MigValue;
  // 25 places on an empty A100; none is left on a full one.
  CHECK(MigLoss(MigValue::kConfigurations).of(a100(), 0x00, 0xff) == 1 + 1 + 2 + 3 + 4 + 7 + 7 - 7);
  CHECK(MigLoss(MigValue::kNone).of(a100(), 0x00, 0xff) == 0);
  // Slice 0 taken: no 7g (7 free slices: it does not count), no 4g, one of 3g, 2g, 1g.20gb, 1g.
  CHECK(MigLoss(MigValue::kUnblocked).of(a100(), 0x00, 0x01) == 4 + 4 + 2 + 2 + 1);
  // Empty: 2 slices are of no use to 2g, 1 to 1g.10gb, 4 to 4g. Slice 0 taken, of the other seven:
  // 7 of none to 7g, 7 to 4g, 3 to 3g, 3 to 2g, 1 to 1g.20gb and to 1g.10gb.
  CHECK(MigLoss(MigValue::kUsable).of(a100(), 0x00, 0x01) == (7 + 7 + 3 + 3 + 1 + 1) - (2 + 1 + 4));
  for (const gpu::mig::Geometry& geometry : gpu::mig::geometries()) {
    const MigLoss loss(MigValue::kFill);
    const auto full = static_cast<std::uint16_t>((1U << geometry.slices) - 1U);
    CHECK(loss.of(geometry, 0, full) > 0);
    CHECK(loss.of(geometry, 0, full) <= MigLoss::kMost);
  }
}

TEST_CASE("The expected fill is that of random requests until none fits") {
  const std::vector<std::int64_t> fill = bench::expected_fill(a100());
  constexpr std::int64_t kSlice = bench::kFillScale;
  CHECK(fill[0xff] == 0);
  CHECK(fill[0x7f] == 0);       // slice 7 alone holds nothing
  CHECK(fill[0xbf] == kSlice);  // slice 6 a 1g
  // Slices 6 and 7: a 1g.20gb fills both, twice as likely as a 1g that fills one.
  CHECK(fill[0x3f] == (2 * 2 * kSlice + 1 * kSlice) / 3);
  // Never more than is free.
  for (std::size_t mask = 0; mask < fill.size(); ++mask) {
    CHECK(fill[mask] <= (8 - std::popcount(mask)) * kSlice);
  }
}
