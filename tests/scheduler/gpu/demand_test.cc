#include "scheduler/gpu/demand.h"

#include "scheduler/framework/pod_shape.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;

TEST_CASE("what a pod demands of GPUs") {
  const auto product = [] { return label("nvidia.com/gpu.product"); };
  struct Case {
    std::string name;
    k8s::Pod given;
    gpu::Demand want;
  };
  const std::vector<Case> cases{
      {"no GPU", pod("p").cpu("4"), {}},
      {"whole GPUs", pod("p").gpus(2), {.gpus = 2, .milli = 1000}},
      {"a share",
       pod("p").requests("gpu-scheduler.io/gpu-milli", "460"),
       {.gpus = 1, .milli = 460}},
      {"whole GPUs with their thousandths",
       pod("p").gpus(2).requests("gpu-scheduler.io/gpu-milli", "2k"),
       {.gpus = 2, .milli = 1000}},
      {"all but a thousandth of one",
       pod("p").requests("gpu-scheduler.io/gpu-milli", "999"),
       {.gpus = 1, .milli = 999}},
      {"all thousandths of one are no share",
       pod("p").requests("gpu-scheduler.io/gpu-milli", "1000"),
       {}},
      {"thousandths of a GPU and more are no share",
       pod("p").requests("gpu-scheduler.io/gpu-milli", "1500"),
       {}},
      {"MIG instances",
       pod("p").requests("nvidia.com/mig-3g.40gb", "2"),
       {.instances = {{"3g.40gb", 2}}}},
      {"instances of several profiles",
       pod("p").requests("nvidia.com/mig-3g.40gb", "1").requests("nvidia.com/mig-1g.10gb.me", "2"),
       {.instances = {{"3g.40gb", 1}, {"1g.10gb.me", 2}}}},
      {"of several containers",
       pod("p")
           .requests("nvidia.com/mig-3g.40gb", "1")
           .with(container("b", {{"nvidia.com/mig-1g.10gb", "1"}}))
           .with(container("c", {{"nvidia.com/mig-3g.40gb", "1"}})),
       {.instances = {{"3g.40gb", 2}, {"1g.10gb", 1}}}},
      {"what an init container takes, others take later",
       pod("p")
           .requests("nvidia.com/mig-1g.10gb", "2")
           .first_runs(container("init", {{"nvidia.com/mig-1g.10gb", "3"}})),
       {.instances = {{"1g.10gb", 3}}}},
      {"a sidecar goes on beside the others",
       pod("p")
           .requests("nvidia.com/mig-1g.10gb", "2")
           .first_runs(sidecar("side", {{"nvidia.com/mig-1g.10gb", "1"}})),
       {.instances = {{"1g.10gb", 3}}}},
      {"whole GPUs and an instance",
       pod("p").gpus(2).requests("nvidia.com/mig-1g.10gb", "1"),
       {.gpus = 2, .milli = 1000, .instances = {{"1g.10gb", 1}}}},
      {"a share and an instance",
       pod("p")
           .requests("gpu-scheduler.io/gpu-milli", "460")
           .requests("nvidia.com/mig-1g.10gb", "1"),
       {.gpus = 1, .milli = 460, .instances = {{"1g.10gb", 1}}}},
      {"replicas of an instance are none",
       pod("p").requests("nvidia.com/mig-1g.10gb.shared", "1"),
       {}},
      {"nor is what names no profile", pod("p").requests("nvidia.com/mig-big", "1"), {}},
      {"a model by node selector",
       pod("p").gpus(1).selects("nvidia.com/gpu.product", "T4"),
       {.gpus = 1, .milli = 1000, .products = {"T4"}}},
      {"models by node affinity, sorted",
       pod("p").gpus(1).requires_nodes({term({product().in({"V100", "T4", "V100"})})}),
       {.gpus = 1, .milli = 1000, .products = {"T4", "V100"}}},
      {"models of several terms",
       pod("p").gpus(1).requires_nodes(
           {term({product().in({"V100"})}), term({product().in({"A10"}), label("x").exists()})}),
       {.gpus = 1, .milli = 1000, .products = {"A10", "V100"}}},
      {"a term that leaves the model open opens all",
       pod("p").gpus(1).requires_nodes(
           {term({product().in({"V100"})}), term({label("x").exists()})}),
       {.gpus = 1, .milli = 1000}},
      {"both must hold",
       pod("p")
           .gpus(1)
           .selects("nvidia.com/gpu.product", "T4")
           .requires_nodes({term({product().in({"V100", "T4"})})}),
       {.gpus = 1, .milli = 1000, .products = {"T4"}}},
      {"what two requirements of a term allow",
       pod("p").gpus(1).requires_nodes(
           {term({product().in({"V100", "T4"}), product().in({"A10", "V100"})})}),
       {.gpus = 1, .milli = 1000, .products = {"V100"}}},
      {"models that are excluded leave the others open",
       pod("p").gpus(1).requires_nodes({term({product().not_in({"V100"})})}),
       {.gpus = 1, .milli = 1000}},
      {"another label is none of a model",
       pod("p").gpus(1).selects("zone", "T4").requires_nodes({term({label("zone").in({"V100"})})}),
       {.gpus = 1, .milli = 1000}},
      {"models of an instance",
       pod("p").requests("nvidia.com/mig-1g.10gb", "1").selects("nvidia.com/gpu.product", "T4"),
       {.instances = {{"1g.10gb", 1}}, .products = {"T4"}}},
      {"models matter to pods with GPU only", pod("p").selects("nvidia.com/gpu.product", "T4"), {}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      ResourceNames names;
      CHECK(shape_of(c.given, names).gpu == c.want);
    }
  }
}

TEST_CASE("what a demand is") {
  struct Case {
    std::string name;
    gpu::Demand given;
    bool none;
    bool share;
    bool one_instance;
    bool one_piece;
    std::int64_t total_milli;
  };
  const std::vector<Case> cases{
      {"nothing", {}, true, false, false, false, 0},
      {"a share", {.gpus = 1, .milli = 460}, false, true, false, true, 460},
      {"a GPU", {.gpus = 1, .milli = 1'000}, false, false, false, false, 1'000},
      {"two GPUs", {.gpus = 2, .milli = 1'000}, false, false, false, false, 2'000},
      {"an instance", {.instances = {{"1g.10gb", 1}}}, false, false, true, true, 0},
      {"two of them", {.instances = {{"1g.10gb", 2}}}, false, false, false, false, 0},
      {"two kinds", {.instances = {{"1g.10gb", 1}, {"2g.20gb", 1}}}, false, false, false, false, 0},
      {"a GPU and an instance",
       {.gpus = 1, .milli = 1'000, .instances = {{"1g.10gb", 1}}},
       false,
       false,
       false,
       false,
       1'000},
      {"a share and an instance",
       {.gpus = 1, .milli = 460, .instances = {{"1g.10gb", 1}}},
       false,
       true,
       false,
       false,
       460},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(each.given.is_none() == each.none);
    CHECK(each.given.is_share() == each.share);
    CHECK(each.given.has_instances() == !each.given.instances.empty());
    CHECK(each.given.is_one_instance() == each.one_instance);
    CHECK(each.given.is_one_piece() == each.one_piece);
    CHECK(each.given.total_milli() == each.total_milli);
  }
}

TEST_CASE("pieces of GPUs are counted under both of their names") {
  ResourceNames names;
  const auto pieces = [&](const k8s::Pod& given) {
    return gpu::pieces_in(shape_of(given, names).requests, names);
  };
  CHECK(pieces(pod("p").gpus(2).cpu("4")) == 2);
  CHECK(pieces(pod("p").gpus(2).requests("nvidia.com/gpu.shared", "3")) == 5);
  CHECK(pieces(pod("p").requests("nvidia.com/mig-1g.10gb", "3")) == 0);
}
