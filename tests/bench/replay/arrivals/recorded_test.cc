#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/trace/read.h"
#include "tests/bench/replay/arrivals/small_trace.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace bench::replay {
namespace {

using std::chrono::seconds;

struct Came {
  std::size_t pod;
  Moment at;
  std::optional<Moment> leaves;
  friend bool operator==(const Came&, const Came&) = default;
};

std::vector<Came> came(const Workload& workload) {
  std::vector<Came> all;
  for (const Arrival& one : workload.arrivals) all.push_back({one.pod, one.at, one.leaves});
  return all;
}

Trace five_pods() {
  Trace trace;
  trace.name = "five";
  trace.pods = {lived(asks("late", 1), seconds(9), std::nullopt),
                lived(asks("brief", 1), seconds(2), seconds(2)),
                lived(asks("early", 1), seconds(1), seconds(4)),
                lived(asks("bound", 1), seconds(0), std::nullopt),
                lived(asks("second", 1), seconds(2), seconds(3))};
  trace.pods[3].bound_to_start_with = true;
  return trace;
}

TEST_CASE("pods come and go as they did, those of one time in the trace's order") {
  const auto workload = arrange(five_pods(), TraceArrival{}, 1);
  REQUIRE(workload);
  CHECK(came(*workload) == std::vector<Came>{{2, seconds(1), seconds(4)},
                                             {1, seconds(2), seconds(2) + Moment(1)},
                                             {4, seconds(2), seconds(3)},
                                             {0, seconds(9), std::nullopt}});
  CHECK(workload->measure_from == Moment(0));
  CHECK_FALSE(workload->ends);
}

TEST_CASE("the sample trace can arrive in every way") {
  const std::string folder = tests::source_dir() + "/bench/replay/sample/";
  const auto trace = read_trace({.nodes = folder + "nodes.csv", .pods = folder + "pods.csv"});
  REQUIRE(trace);
  for (const char* mode : {"trace", "backlog", "inflate:130", "stationary:95"}) {
    DYNAMIC_SECTION(mode) {
      const auto workload = arrange(*trace, parse_arrival(mode).value(), 42);
      REQUIRE(workload);
      CHECK(workload->arrivals.size() > 100);
    }
  }
}

TEST_CASE("pods that came at an unknown time cannot come as they did") {
  Trace trace = five_pods();
  trace.pods[1].created.reset();
  const auto workload = arrange(trace, TraceArrival{}, 1);
  REQUIRE_FALSE(workload);
  CHECK(workload.error().message ==
        "trace \"five\" does not say when its pods came (default/brief has no creation time): "
        "arrival \"trace\" is not possible, \"backlog\", \"inflate\" and \"stationary\" are");
}

TEST_CASE("a backlog is there at once, by creation, and stays") {
  Trace trace = five_pods();
  trace.pods[1].created.reset();
  const auto workload = arrange(trace, BacklogArrival{}, 1);
  REQUIRE(workload);
  CHECK(came(*workload) == std::vector<Came>{{2, seconds(0), std::nullopt},
                                             {4, seconds(0), std::nullopt},
                                             {0, seconds(0), std::nullopt},
                                             {1, seconds(0), std::nullopt}});
}

}  // namespace
}  // namespace bench::replay
