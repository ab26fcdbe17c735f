#include "tests/bench/policies/mig_node.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <bit>
#include <string>
#include <vector>

using namespace sched;
using tests::kA100;
using tests::make_plugin;
using tests::MigNode;

TEST_CASE(
    "GpuDevices lets a MIG instance on a node where one of its starts is free, else says why") {
  struct Case {
    const char* name;
    const char* product;
    gpu::DeviceUses uses;
    std::int64_t gpus;
    const char* profile;
    const char* instances;
    Code want;
    std::string numbers;
  };
  const std::vector<Case> cases = {
      {"an empty GPU", kA100, {}, 1, "3g.40gb", "1", Code::kOk, ""},
      {"a start is free", kA100, {{.slices = 0x0f}}, 1, "3g.40gb", "1", Code::kOk, ""},
      {"slices are free, no start is",
       kA100,
       {{.slices = 0x11}, {.slices = 0x22}, {.slices = 0xff}},
       3,
       "3g.40gb",
       "1",
       Code::kUnschedulable,
       "3g.40gb: 2 of 3 GPUs have 4 free slices, none at a legal start"},
      {"slices are short",
       kA100,
       {{.slices = 0xff}, {.slices = 0x3f}},
       2,
       "4g.40gb",
       "1",
       Code::kUnschedulable,
       "4g.40gb: takes 4 slices, at most 2 free on one of 2 GPUs"},
      {"shared GPUs have none to give",
       kA100,
       {{.milli = 100}},
       1,
       "1g.10gb",
       "1",
       Code::kUnschedulable,
       "1g.10gb: takes 1 slices, at most 0 free on one of 1 GPUs"},
      {"engines are taken",
       kA100,
       {{.slices = 0x40, .extras = gpu::mig::kOnlyEngines}},
       1,
       "1g.10gb.me",
       "1",
       Code::kUnschedulable,
       "1g.10gb.me: 1 of 1 GPUs have 1 free slices, none at a legal start with the engines it asks "
       "for"},
      {"several instances", kA100, {}, 2, "3g.40gb", "4", Code::kOk, ""},
      {"too many",
       kA100,
       {{.slices = 0x01}},
       2,
       "3g.40gb",
       "4",
       Code::kUnschedulable,
       "3g.40gb: asked 4, room for 3 on 2 GPUs"},
      {"another model's profile",
       kA100,
       {},
       1,
       "3g.20gb",
       "1",
       Code::kUnresolvable,
       "3g.20gb: no profile of NVIDIA-A100-SXM4-80GB"},
      {"the same name is another thing: two slices",
       "NVIDIA-A100-SXM4-40GB",
       {{.slices = 0x55}},
       1,
       "1g.10gb",
       "1",
       Code::kUnschedulable,
       "1g.10gb: 1 of 1 GPUs have 2 free slices, none at a legal start"},
      {"a GPU without MIG",
       "NVIDIA-L4",
       {},
       1,
       "1g.10gb",
       "1",
       Code::kUnresolvable,
       "1g.10gb: no profile of NVIDIA-L4"},
      {"GPUs that are only counted are left to NodeResourcesFit",
       kA100,
       {},
       0,
       "3g.20gb",
       "1",
       Code::kOk,
       ""},
  };
  const auto made = make_plugin("GpuDevices");
  REQUIRE(made);
  for (const Case& each : cases) {
    INFO(each.name);
    MigNode node(each.product, each.uses, each.gpus);
    const auto prepared = node.prepare(*made->filter, each.profile, each.instances);
    REQUIRE(prepared.filter);
    const Verdict verdict = prepared.filter->check(node.view());
    CHECK(verdict.code() == each.want);
    if (verdict.is_ok()) continue;
    const auto reason = static_cast<unsigned>(std::countr_zero(verdict.reasons()));
    CHECK(reason < prepared.filter->reasons().size());
    CHECK(prepared.filter->numbers(node.view(), reason) == each.numbers);
  }
}

TEST_CASE("GpuDevices has nothing to say of MIG instances on a live cluster") {
  const auto made = make_plugin("GpuDevices");
  REQUIRE(made);
  MigNode node(kA100, {});
  CHECK_FALSE(node.prepare(*made->filter, "3g.40gb", "1", false).filter);
}

TEST_CASE("GpuDevices asks for room for all that a pod wants of GPUs and instances together") {
  struct Case {
    const char* name;
    k8s::Pod given;
    gpu::DeviceUses uses;
    std::int64_t gpus;
    Code want;
    std::string numbers;
  };
  constexpr const char* kLarge = "nvidia.com/mig-4g.40gb";
  constexpr const char* kSmall = "nvidia.com/mig-1g.20gb";
  const std::vector<Case> cases = {
      {"two profiles on one GPU",
       tests::pod("a").requests(kLarge, "1").requests(kSmall, "2"),
       {},
       1,
       Code::kOk,
       ""},
      {"each would fit, both do not",
       tests::pod("a").requests(kLarge, "1").requests(kSmall, "3"),
       {},
       1,
       Code::kUnschedulable,
       "asked 1 of 4g.40gb (alone room for 1), 3 of 1g.20gb (alone room for 4) on 1 GPUs"},
      {"a whole GPU and an instance",
       tests::pod("a").gpus(1).requests(kLarge, "1"),
       {},
       2,
       Code::kOk,
       ""},
      {"and only one GPU",
       tests::pod("a").gpus(1).requests(kLarge, "1"),
       {},
       1,
       Code::kUnschedulable,
       "asked 1 whole GPUs (alone room for 1), 1 of 4g.40gb (alone room for 1) on 1 GPUs"},
      {"one of the profiles is another model's",
       tests::pod("a").requests(kLarge, "1").requests("nvidia.com/mig-1g.5gb", "1"),
       {},
       1,
       Code::kUnresolvable,
       "1g.5gb: no profile of NVIDIA-A100-SXM4-80GB"},
  };
  const auto made = make_plugin("GpuDevices");
  REQUIRE(made);
  for (const Case& each : cases) {
    INFO(each.name);
    MigNode node(kA100, each.uses, each.gpus);
    const auto prepared = node.prepare(*made->filter, each.given);
    REQUIRE(prepared.filter);
    const Verdict verdict = prepared.filter->check(node.view());
    CHECK(verdict.code() == each.want);
    if (verdict.is_ok()) continue;
    const auto reason = static_cast<unsigned>(std::countr_zero(verdict.reasons()));
    CHECK(prepared.filter->numbers(node.view(), reason) == each.numbers);
  }
}
