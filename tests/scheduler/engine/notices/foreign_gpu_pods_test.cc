#include "scheduler/engine/notices/foreign_gpu_pods.h"

#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <string>

using namespace sched;
using namespace tests;

TEST_CASE("pods of others with GPUs on owned nodes are named once") {
  Scheduler s;
  s.has(node("ours").gpus(8).labelled("owned", "yes"));
  s.has(node("theirs").gpus(8));
  s.has(their_pod("plain").on("ours"));
  s.has(their_pod("greedy").gpus(2).on("ours"));
  s.has(their_pod("at-home").gpus(2).on("theirs"));
  s.has(our_pod("own").gpus(2).on("ours"));
  s.has(their_pod("done").gpus(2).on("ours").finished());
  CHECK(s.decide().empty());  // not before everything is known
  s.synced();
  const auto told = s.decisions();
  REQUIRE(told.size() == 1);
  CHECK(std::get<decision::ForeignGpuPod>(told[0]) ==
        decision::ForeignGpuPod{.pod = Scheduler::ref(their_pod("greedy")),
                                .scheduler_name = "default-scheduler",
                                .node = "ours",
                                .gpus = 2});
  s.has(their_pod("greedy").gpus(2).on("ours").labelled("a", "b"));
  CHECK(s.decide().empty());
}

TEST_CASE("a pod of others counts when its node turns out to be owned later") {
  Scheduler s;
  s.synced();
  s.has(their_pod("early").gpus(1).on("n"));
  s.has(their_pod("gone").gpus(1).on("n"));
  s.pod_gone(their_pod("gone"));
  CHECK(s.decide().empty());
  s.has(node("n").gpus(8));
  CHECK(s.decide().empty());
  s.has(node("n").gpus(8).labelled("owned", "yes"));
  CHECK(s.decide() == Texts{"early is foreign on n"});
  s.has(node("n").gpus(7).labelled("owned", "yes"));
  CHECK(s.decide().empty());
}

TEST_CASE("pods of others that are gone before they are reported are not kept") {
  ForeignGpuPods foreign;
  for (int i = 0; i < 10'000; ++i) {
    const std::string uid = "uid-" + std::to_string(i);
    foreign.seen({.pod = {"ml", "p", uid}, .scheduler_name = "s", .node = "n", .gpus = 1}, true);
    if (i != 5'000) foreign.gone(uid);
  }
  const auto told = foreign.next();
  REQUIRE(told);
  CHECK(told->pod.uid == "uid-5000");
  CHECK_FALSE(foreign.next());
}
