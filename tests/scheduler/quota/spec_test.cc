#include "scheduler/quota/spec.h"

#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <optional>
#include <string>
#include <vector>

using namespace sched::quota;
using tests::gpu_quota;

TEST_CASE("a spec is taken over with its defaults") {
  const auto spec = spec_of(gpu_quota("q")
                                .in_cohort("c")
                                .line("H100", 8)
                                .limit(16)
                                .lendable(4)
                                .line("*", "500m")
                                .most_per_pod(8)
                                .strict());
  REQUIRE(spec);
  CHECK(spec->cohort == "c");
  CHECK(spec->strict);
  CHECK(spec->most_per_pod == GpuShare::gpus(8));
  REQUIRE(spec->lines.size() == 2);
  CHECK(spec->lines[0].limit == GpuShare::gpus(16));
  CHECK(spec->lines[0].lendable == GpuShare::gpus(4));
  CHECK(spec->lines[1].limit == std::nullopt);
  CHECK(spec->lines[1].guaranteed == GpuShare::one_of(2));
  CHECK(spec->lines[1].lendable == GpuShare::one_of(2));
}

TEST_CASE("amounts may be as much as they may be") {
  const auto spec =
      spec_of(gpu_quota("q").weighs(GpuShare::kMostGpus).line("H100", 8).limit(8).lendable(8));
  REQUIRE(spec);
  CHECK(spec->weight == GpuShare::gpus(GpuShare::kMostGpus));
  CHECK(spec->lines[0].limit == GpuShare::gpus(8));
  const auto none = spec_of(gpu_quota("q").weighs(0).line("H100", 0).lendable(0));
  REQUIRE(none);
  CHECK(none->weight == GpuShare());
  CHECK(spec_of(gpu_quota("q").in_quota("p").line("H100", 8).limit(9)));
}

TEST_CASE("what makes no sense is said with its place") {
  struct Case {
    k8s::GpuQuota quota;
    std::string want;
  };
  k8s::GpuQuota order = gpu_quota("q").line("*", 1);
  order.spec.order = k8s::GpuQuota::Order::kUnknown;
  const std::vector<Case> cases = {
      {gpu_quota("q").line("", 1), "spec.quotas[0].gpuType: must not be empty"},
      {gpu_quota("q").line("H100", -1), "spec.quotas[0].guaranteed: must not be negative"},
      {gpu_quota("q").in_cohort("c").line("*", 0).line("H100", 8).limit(4),
       "spec.quotas[1].limit: 4 is less than guaranteed, 8"},
      {gpu_quota("q").line("H100", 8).limit(9),
       "spec.quotas[0].limit: 9 is more than guaranteed, 8, and without spec.cohort or "
       "spec.parent there is "
       "no other quota to borrow from"},
      {gpu_quota("q").line("H100", 8).lendable(9),
       "spec.quotas[0].lendable: 9 is not between 0 and guaranteed, 8"},
      {gpu_quota("q").line("H100", 8).lendable(-1),
       "spec.quotas[0].lendable: -1 is not between 0 and guaranteed, 8"},
      {gpu_quota("q").line("H100", 8).line("H100", 8),
       "spec.quotas[1].gpuType: H100 is the type of spec.quotas[0], H100"},
      {gpu_quota("q").line("H100", 4).line("*", 1).line("h100", 4),
       "spec.quotas[2].gpuType: h100 is the type of spec.quotas[0], H100"},
      {gpu_quota("q").line("H100", 4).line("NVIDIA-H100", 4),
       "spec.quotas[1].gpuType: NVIDIA-H100 is the type of spec.quotas[0], H100"},
      {gpu_quota("q").line("A100-PCIe-80GB", 4).line("NVIDIA-A100-80GB-PCIe", 4),
       "spec.quotas[1].gpuType: NVIDIA-A100-80GB-PCIe is the type of spec.quotas[0], "
       "A100-PCIe-80GB"},
      {gpu_quota("q").line("Prototype-X", 4).line("prototype x", 4),
       "spec.quotas[1].gpuType: prototype x is the type of spec.quotas[0], Prototype-X"},
      {gpu_quota("q").line("--", 4), "spec.quotas[0].gpuType: \"--\" names nothing"},
      {gpu_quota("q").line("L4", 4).line("NVIDIA-L4-SHARED", 4),
       "spec.quotas[1].gpuType: NVIDIA-L4-SHARED must be the product without -SHARED or -MIG-…: "
       "shared GPUs and MIG instances are charged to its line"},
      {gpu_quota("q").line("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", 4),
       "spec.quotas[0].gpuType: NVIDIA-A100-SXM4-40GB-MIG-1g.5gb must be the product without "
       "-SHARED or -MIG-…: shared GPUs and MIG instances are charged to its line"},
      {gpu_quota("q").most_per_pod(-1), "spec.maxGpusPerPod: must be more than 0"},
      {gpu_quota("q").most_per_pod(0), "spec.maxGpusPerPod: must be more than 0"},
      {order, "spec.order: neither BestEffort nor Strict"},
      {gpu_quota("q").weighs(-1), "spec.weight: -1 is not between 0 and 1000000"},
      {gpu_quota("q").weighs(1'000'001), "spec.weight: 1000001 is not between 0 and 1000000"},
      {gpu_quota("q").in_quota("q"), "spec.parent: a quota is not its own parent"},
      {gpu_quota("q").in_quota("p").in_cohort("c"),
       "spec.cohort: a quota that has a parent lends and borrows inside it: its parent may have a "
       "cohort"},
  };
  for (const Case& c : cases) {
    INFO(c.want);
    const auto spec = spec_of(c.quota);
    REQUIRE_FALSE(spec);
    CHECK(spec.error().message == c.want);
  }
}

TEST_CASE("lines that differ in what they mean stand side by side") {
  const auto spec = spec_of(gpu_quota("q")
                                .line("*", 1)
                                .line("H100", 1)
                                .line("H100-PCIe", 1)
                                .line("H100-80GB", 1)
                                .line("NVIDIA-H100-80GB-HBM3", 1)
                                .line("A100-40GB", 1)
                                .line("A100-80GB", 1)
                                .line("Prototype-X", 1)
                                .line("Prototype-Y", 1));
  if (!spec) FAIL(spec.error().message);
}

TEST_CASE("a GPU is charged to one line: its product, else its class, else any") {
  const auto charged = [](const k8s::GpuQuota& quota, const char* product) {
    const auto spec = spec_of(quota);
    const std::size_t line = line_for(spec->lines, sched::gpu::parse_product(product).product);
    return line == spec->lines.size() ? std::string("none") : spec->lines[line].gpu_type;
  };
  const k8s::GpuQuota all = gpu_quota("q")
                                .line("*", 1)
                                .line("A100", 1)
                                .line("A100-80GB", 1)
                                .line("NVIDIA-A100-80GB-PCIe", 1);
  CHECK(charged(all, "NVIDIA-A100-80GB-PCIe") == "NVIDIA-A100-80GB-PCIe");
  CHECK(charged(all, "NVIDIA-A100-80GB-PCIe-SHARED") == "NVIDIA-A100-80GB-PCIe");
  CHECK(charged(all, "NVIDIA-A100-SXM4-80GB") == "A100-80GB");
  CHECK(charged(all, "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb") == "A100");
  CHECK(charged(all, "NVIDIA-L4") == "*");
  CHECK(charged(all, "") == "*");
  CHECK(charged(gpu_quota("q").line("H100", 1), "NVIDIA-L4") == "none");
  CHECK(charged(gpu_quota("q").line("H100", 1), "") == "none");
}

TEST_CASE("of lines that say as much of a GPU the first is its line, else that which says more") {
  const auto charged = [](std::vector<const char*> types) {
    auto quota = gpu_quota("q");
    for (const char* type : types) quota.line(type, 1);
    const auto spec = spec_of(quota);
    REQUIRE(spec);
    const auto product = sched::gpu::parse_product("NVIDIA-A100-SXM4-80GB").product;
    return spec->lines.at(line_for(spec->lines, product)).gpu_type;
  };
  CHECK(charged({"A100-80GB", "A100-SXM4"}) == "A100-80GB");
  CHECK(charged({"A100-SXM4", "A100-80GB"}) == "A100-SXM4");
  CHECK(charged({"A100-SXM4", "A100-SXM4-80GB"}) == "A100-SXM4-80GB");
  CHECK(charged({"A100-SXM4-80GB", "A100-80GB"}) == "A100-SXM4-80GB");
}

TEST_CASE("which line of a parent a line is a part of") {
  const auto lines = [](std::vector<const char*> types) {
    auto quota = gpu_quota("q");
    for (const char* type : types) quota.line(type, 1);
    const auto spec = spec_of(quota);
    REQUIRE(spec);
    return spec->lines;
  };
  const auto above = lines({"H100", "A100", "*"});
  struct Case {
    const char* type;
    std::size_t line;
  };
  for (const Case& each : {Case{"H100", 0}, Case{"NVIDIA-H100-80GB-HBM3", 0}, Case{"A100-80GB", 1},
                           Case{"L4", 2}, Case{"*", 2}}) {
    INFO(each.type);
    const LineSpec line = lines({each.type}).front();
    CHECK(line_above(above, line) == each.line);
    CHECK(includes(above[each.line], line));
  }
  CHECK(line_above(lines({"H100"}), lines({"*"}).front()) == 1);
  CHECK(line_above(lines({"H100"}), lines({"L4"}).front()) == 1);
  CHECK_FALSE(includes(above[0], lines({"*"}).front()));
  CHECK_FALSE(includes(lines({"H100-PCIe"}).front(), above[0]));
}
