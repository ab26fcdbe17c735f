// Amounts of GPU that a replay would misread are refused.
#include "bench/replay/trace/check_gpus.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

namespace bench::replay {
namespace {

using tests::node;
using tests::pod;

Trace trace_of(k8s::Node node, k8s::Pod pod, bool devices_apart) {
  Trace trace;
  trace.nodes.push_back(std::move(node));
  trace.pods.emplace_back().pod = std::move(pod);
  trace.devices_apart = devices_apart;
  return trace;
}

// Empty: fine.
std::string complaint(const Trace& trace) {
  const auto checked = check_gpus(trace);
  return checked ? "" : checked.error().message;
}

TEST_CASE("GPUs of nodes") {
  struct Case {
    std::int64_t gpus;
    bool devices_apart;
    const char* want;
  };
  const std::vector<Case> cases = {
      {0, true, ""},
      {64, true, ""},
      {65, true, "65 GPUs"},
      {10'000, false, ""},
      {10'001, false, "nvidia.com/gpu is 10001: want 0 to 10000"},
      {-1, false, "nvidia.com/gpu is -1"},
      {std::numeric_limits<std::int64_t>::max(), false, "nvidia.com/gpu is 9223372036854775807"},
  };
  for (const Case& c : cases) {
    INFO(c.gpus);
    const std::string message =
        complaint(trace_of(node("n").gpus(c.gpus), pod("p"), c.devices_apart));
    CHECK_THAT(message, Catch::Contains(c.want));
    CHECK(message.empty() == std::string_view(c.want).empty());
  }
}

TEST_CASE("GPUs of pods") {
  const std::string milli = "gpu-scheduler.io/gpu-milli";
  const std::string small = "nvidia.com/mig-1g.10gb";
  const std::string large = "nvidia.com/mig-3g.40gb";
  struct Case {
    const char* name;
    k8s::Pod pod;
    const char* apart;    // where GPUs are kept one by one
    const char* counted;  // elsewhere
  };
  const std::vector<Case> cases = {
      {"none", pod("p"), "", ""},
      {"whole", pod("p").gpus(8), "", ""},
      {"whole in both words", pod("p").gpus(2).requests(milli, "2000"), "", ""},
      {"share", pod("p").requests(milli, "999"), "", ""},
      {"whole as a share", pod("p").requests(milli, "1000"),
       "gpu-milli is 1000: a share of a GPU is 1 to 999", "gpu-milli is 1000"},
      {"instances", pod("p").requests(small, "2"), "", ""},
      {"instances of two profiles", pod("p").requests(small, "1").requests(large, "1"), "", ""},
      {"GPU and instance", pod("p").gpus(1).requests(small, "1"), "", ""},
      {"share and instance", pod("p").requests(milli, "100").requests(small, "1"), "", ""},
      {"too many", pod("p").gpus(10'001), "asks for 10001", "asks for 10001"},
      {"negative", pod("p").requests("nvidia.com/gpu", "-1"), "nvidia.com/gpu is negative",
       "nvidia.com/gpu is negative"},
  };
  for (const Case& c : cases) {
    for (const bool apart : {true, false}) {
      INFO(c.name << ' ' << apart);
      const std::string message = complaint(trace_of(node("n").gpus(1), c.pod, apart));
      const std::string want = apart ? c.apart : c.counted;
      CHECK_THAT(message, Catch::Contains(want));
      CHECK(message.empty() == want.empty());
      if (!want.empty()) CHECK_THAT(message, Catch::StartsWith("Pod \"default/p\": "));
    }
  }
}

}  // namespace
}  // namespace bench::replay
