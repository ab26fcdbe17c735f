#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

using namespace sched;
using namespace tests;

TEST_CASE(
    "candidates are the nodes that fit, the best first, and the first is where the pod goes") {
  Scheduler s;
  s.has(node("a").gpus(8));
  s.has(node("b").gpus(2));
  s.has(node("c").gpus(2));
  s.has(node("d").gpus(1));
  s.synced();
  const k8s::Pod pod = our_pod("p").gpus(2);

  const auto all = s.engine.candidates(pod, 10);
  REQUIRE(all.size() == 3);
  CHECK(all[0].node == "b");  // as good as c, and before it
  CHECK(all[1].node == "c");
  CHECK(all[2].node == "a");
  CHECK(all[0].total_score == all[1].total_score);
  CHECK(all[1].total_score > all[2].total_score);
  CHECK(s.engine.candidates(pod, 2).size() == 2);

  s.has(pod);
  const auto decided = s.decisions();
  REQUIRE(decided.size() == 1);
  const auto& bind = std::get<decision::Bind>(decided.front());
  CHECK(bind.node == all[0].node);
  CHECK(bind.total_score == all[0].total_score);
  CHECK(bind.scores == all[0].scores);

  CHECK(s.engine.candidates(our_pod("q").gpus(9), 10).empty());
  CHECK(s.engine.candidates(our_pod("r").labelled("waits-for", "x"), 10).empty());
}
