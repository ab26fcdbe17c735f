// The rules of GPU types, of sharing and of MIG hold in a replay as they do live: the same
// annotations, the same answers, whether GPUs are counted or kept one by one.
#include "bench/policies/registry.h"
#include "bench/replay/run/run.h"
#include "tests/bench/replay/small_cluster.h"
#include "tests/support/catch.h"

#include <nlohmann/json.hpp>

#include <map>
#include <sstream>
#include <string>

using bench::replay::Trace;
using tests::NodeBuilder;
using tests::pod;

namespace {

constexpr const char* kType = "gpu-scheduler.io/gpu-type";
constexpr const char* kMemory = "gpu-scheduler.io/min-gpu-memory";
constexpr const char* kSharing = "gpu-scheduler.io/sharing";
constexpr const char* kProfile = "gpu-scheduler.io/mig-profile";

NodeBuilder gpus(std::string_view name, std::string_view product, std::int64_t count) {
  NodeBuilder made = tests::gpu_node(name, count);
  made.product(product);
  return made;
}

// By pod: its node, or what it was told.
std::map<std::string, std::string> replay(const Trace& trace) {
  std::ostringstream log;
  const auto policy = bench::replay::find_policy("default");
  REQUIRE(policy);
  const auto result = bench::replay::run(trace, tests::one_by_one(trace), *policy,
                                         bench::registry(), {.decisions = &log});
  if (!result) FAIL(result.error().message);
  std::map<std::string, std::string> told;
  std::istringstream lines(log.str());
  for (std::string line; std::getline(lines, line);) {
    const auto decision = nlohmann::json::parse(line);
    const auto& node = decision["node"];
    told[decision["pod"].get<std::string>().substr(std::string("default/").size())] =
        node.is_null()
            ? decision["message"].get<std::string>() + " " + decision["details"].get<std::string>()
            : node.get<std::string>();
  }
  return told;
}

}  // namespace

TEST_CASE("A replay gives pods the GPU types that their annotations ask for") {
  for (const bool apart : {false, true}) {
    INFO("one by one: " << apart);
    Trace trace =
        tests::trace_of({gpus("a100", "NVIDIA-A100-SXM4-80GB", 1),
                         gpus("h100", "NVIDIA-H100-80GB-HBM3", 1), gpus("l4", "NVIDIA-L4", 4)},
                        {pod("first").gpus(1).annotated(kType, "H100,A100-80GB"),
                         pod("second").gpus(1).annotated(kType, "H100,A100-80GB"),
                         pod("third").gpus(1).annotated(kType, "H100,A100-80GB"),
                         pod("large").gpus(1).annotated(kMemory, "40Gi"),
                         pod("unknown").gpus(1).annotated(kType, "L5"), pod("any").gpus(1)});
    trace.devices_apart = apart;
    auto told = replay(trace);
    CHECK(told["first"] == "h100");
    CHECK(told["second"] == "a100");
    CHECK_THAT(told["third"], Catch::Contains("1 node(s) had no GPU of type H100, A100-80GB") &&
                                  Catch::Contains("2 Insufficient nvidia.com/gpu"));
    CHECK_THAT(told["large"], Catch::Contains("1 node(s) had no GPU with 40Gi of memory"));
    CHECK_THAT(told["unknown"],
               Catch::Contains("No node has a GPU of type L5; the nearest are L4"));
    CHECK(told["any"] == "l4");
  }
}

TEST_CASE("A replay gives pieces of shared GPUs to those who take them") {
  for (const bool apart : {false, true}) {
    INFO("one by one: " << apart);
    Trace trace = tests::trace_of(
        {gpus("shared", "NVIDIA-L4-SHARED", 8)
             .labelled("nvidia.com/gpu.replicas", "4")
             .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing"),
         gpus("whole", "NVIDIA-L4", 1)},
        {pod("says-nothing").gpus(1), pod("never").gpus(1).annotated(kSharing, "never"),
         pod("required").gpus(1).annotated(kSharing, "required"),
         pod("nonsense").gpus(1).annotated(kSharing, "maybe")});
    trace.devices_apart = apart;
    auto told = replay(trace);
    CHECK(told["says-nothing"] == "whole");
    CHECK(told["required"] == "shared");
    CHECK_THAT(told["never"], Catch::Contains("1 node(s) had shared GPUs, which the pod does not "
                                              "accept"));
    CHECK_THAT(told["nonsense"], Catch::Contains("none of allowed, required, never"));
  }
}

TEST_CASE("A replay knows MIG instances of both strategies, and several profiles in one pod") {
  constexpr const char* kLarge = "nvidia.com/mig-3g.40gb";
  constexpr const char* kSmall = "nvidia.com/mig-1g.10gb";
  Trace trace = tests::trace_of(
      {tests::node("mixed")
           .product("NVIDIA-A100-SXM4-80GB")
           .labelled("nvidia.com/mig.strategy", "mixed")
           .offers(kLarge, "1")
           .offers(kSmall, "2"),
       tests::node("single").gpus(7).product("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb")},
      {pod("both").requests(kLarge, "1").requests(kSmall, "2"), pod("more").requests(kSmall, "1"),
       pod("named").gpus(1).annotated(kProfile, "1g.10gb"), pod("unnamed").gpus(1)});
  trace.devices_apart = false;
  auto told = replay(trace);
  CHECK(told["both"] == "mixed");
  CHECK_THAT(told["more"], Catch::Contains("1 node has it, but not enough free (mixed)"));
  CHECK(told["named"] == "single");
  CHECK_THAT(told["unnamed"], Catch::Contains("had MIG instances as nvidia.com/gpu, and the pod "
                                              "names no such profile"));
}
