// When a new leader's watch has shown all that its predecessors bound.
#include "scheduler/live/leadership/catch_up.h"

#include "tests/scheduler/live/leadership/pods_server.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::live::CatchUp;

k8s::Pod served_pod(const std::string& name, const std::string& node = "") {
  auto pod = tests::pod(name).uid("uid-" + name).served_by("gpu-scheduler");
  return node.empty() ? k8s::Pod(pod) : k8s::Pod(pod.on(node));
}

struct CatchUpBench {
  explicit CatchUpBench(std::vector<std::string> names = {"gpu-scheduler"})
      : catch_up(server.transport, loop, std::move(names),
                 {.on_done = [this] { ++done; },
                  .on_behind = [this] { ++behind; },
                  .on_problem = [this](const k8s::Error&, auto) { ++problems; }},
                 {}) {}

  void start() {
    catch_up.start();
    loop.run_ready();
  }

  tests::ManualLoop loop;
  tests::PodsServer server{loop};
  int done = 0;
  int behind = 0;
  int problems = 0;
  CatchUp catch_up;
};

}  // namespace

TEST_CASE("a watch that has shown everything is waited for no longer than the read takes") {
  CatchUpBench bench;
  bench.catch_up.shown(served_pod("a", "n1"));
  bench.catch_up.shown(served_pod("b"));
  bench.server.pods = {served_pod("a", "n1"), served_pod("b")};
  bench.start();
  CHECK(bench.done == 1);
  bench.loop.advance(1h);
  CHECK(bench.done == 1);
  CHECK(bench.server.reads() == 1);
}

TEST_CASE("the read is of our own unfinished pods, and consistent") {
  CatchUpBench bench({"one", "t,w=o"});
  bench.start();
  CHECK(bench.done == 1);
  REQUIRE(bench.server.reads() == 2);
  const std::string first = bench.server.transport.seen()[0];
  CHECK_THAT(first, Catch::Contains("spec.schedulerName%3Done%2C"));
  CHECK_THAT(first, Catch::Contains("status.phase"));
  CHECK_THAT(first, !Catch::Contains("resourceVersion="));
  // Escaped for the selector, then for the URL.
  CHECK_THAT(bench.server.transport.seen()[1],
             Catch::Contains("spec.schedulerName%3Dt%5C%2Cw%5C%3Do%2C"));
}

TEST_CASE("what the watch has yet to show is waited for") {
  CatchUpBench bench;
  bench.catch_up.shown(served_pod("a"));
  bench.server.pods = {served_pod("a", "n1"), served_pod("new", "n2")};
  bench.start();
  CHECK(bench.done == 0);
  bench.catch_up.shown(served_pod("a"));  // older news
  CHECK(bench.done == 0);
  SECTION("the new pod is shown first") {
    bench.catch_up.shown(served_pod("new", "n2"));
    CHECK(bench.done == 0);
    bench.catch_up.shown(served_pod("a", "n1"));
  }
  SECTION("the new pod is shown last") {
    bench.catch_up.shown(served_pod("a", "n1"));
    CHECK(bench.done == 0);
    bench.catch_up.shown(served_pod("new", "n2"));
  }
  SECTION("the new pod is gone") {
    bench.catch_up.shown(served_pod("a", "n1"));
    CHECK(bench.done == 0);
    bench.catch_up.gone("uid-new");
  }
  CHECK(bench.done == 1);
}

TEST_CASE("what is shown while the read is under way counts") {
  CatchUpBench bench;
  bench.server.silent = true;
  bench.start();
  bench.catch_up.shown(served_pod("a", "n1"));
  bench.server.silent = false;
  bench.server.pods = {served_pod("a", "n1")};
  bench.loop.advance(3min);  // the read that hung has been given up
  CHECK(bench.problems > 0);
  CHECK(bench.done == 1);
}

TEST_CASE("a pod that vanished unseen is not waited for after a second read") {
  CatchUpBench bench;
  bench.server.pods = {served_pod("a", "n1")};
  bench.start();
  CHECK(bench.done == 0);
  bench.server.pods.clear();
  bench.loop.advance(2s);
  CHECK(bench.done == 1);
  CHECK(bench.server.reads() == 2);
}

TEST_CASE("a read that fails is repeated") {
  CatchUpBench bench;
  bench.server.refuse_next = 3;
  bench.start();
  CHECK(bench.done == 0);
  bench.loop.advance(1min);
  CHECK(bench.done == 1);
  CHECK(bench.problems == 3);
}

TEST_CASE("after any outage the pods are read within seconds of its end") {
  CatchUpBench bench;
  bench.server.refuse_next = 10'000;
  bench.start();
  for (int second = 0; second < 600; ++second) bench.loop.advance(1s);
  CHECK(bench.done == 0);
  bench.server.refuse_next = 0;
  bench.loop.advance(10s);
  CHECK(bench.done == 1);
}

TEST_CASE("nothing is told after stop") {
  CatchUpBench bench;
  bench.server.pods = {served_pod("a", "n1")};
  bench.start();
  bench.catch_up.stop();
  bench.catch_up.shown(served_pod("a", "n1"));
  bench.loop.advance(1h);
  CHECK(bench.done == 0);
}

TEST_CASE("a watch that is behind still at the second read is to be opened anew") {
  CatchUpBench bench;
  bench.server.pods = {served_pod("a", "n1")};
  bench.start();
  CHECK(bench.behind == 0);
  bench.loop.advance(2s);
  CHECK(bench.server.reads() == 2);
  CHECK(bench.behind == 1);
  SECTION("once, when it shows it then") {
    bench.catch_up.shown(served_pod("a", "n1"));
    CHECK(bench.done == 1);
  }
  SECTION("and some reads later again") {
    bench.loop.advance(9s);
    CHECK(bench.behind == 1);
    bench.loop.advance(1s);
    CHECK(bench.behind == 2);
  }
}
