// Which change brings which waiting pod back, and in which order.
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <chrono>
#include <functional>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

TEST_CASE("a pod that fits nowhere is taken up by the change that makes room, and no other") {
  struct Case {
    const char* name;
    std::function<void(Scheduler&)> change;
    Texts want;
  };
  const Case cases[] = {
      {"a node with too little", [](Scheduler& s) { s.has(node("m").gpus(3)); }, {}},
      {"a node with enough", [](Scheduler& s) { s.has(node("m").gpus(4)); }, {"a → m"}},
      {"the node grows", [](Scheduler& s) { s.has(node("n").gpus(6)); }, {"a → n"}},
      {"a heartbeat",
       [](Scheduler& s) { s.has(node("n").gpus(4).condition("DiskPressure", "False")); },
       {}},
      {"a pod without GPU goes", [](Scheduler& s) { s.pod_gone(their_pod("cpu").on("n")); }, {}},
      {"a pod with GPUs goes",
       [](Scheduler& s) { s.pod_gone(their_pod("gpu").on("n")); },
       {"a → n"}},
      {"a pod with GPUs ends",
       [](Scheduler& s) { s.has(their_pod("gpu").gpus(2).on("n").finished()); },
       {"a → n"}},
      {"another pod arrives", [](Scheduler& s) { s.has(their_pod("more").on("n")); }, {}},
      {"the pod asks for less", [](Scheduler& s) { s.has(our_pod("a").gpus(2)); }, {"a → n"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Scheduler s;
    s.has(node("n").gpus(4));
    s.has(their_pod("gpu").gpus(2).on("n"));
    s.has(their_pod("cpu").cpu("1").on("n"));
    s.synced();
    s.has(our_pod("a").gpus(4));
    REQUIRE(s.decide().size() == 1);
    REQUIRE(s.engine.pending() == PendingPods{.unschedulable = 1});
    c.change(s);
    CHECK(s.decide() == c.want);
  }
}

TEST_CASE("a node that becomes right takes waiting pods") {
  Scheduler s;
  s.synced();
  s.has(our_pod("tolerant").gpus(1).tolerates("team"));
  s.has(our_pod("choosy").gpus(1).selects("zone", "z1"));
  CHECK(s.decide() == Texts{"tolerant waits: no nodes available to schedule pods",
                            "choosy waits: no nodes available to schedule pods"});
  s.has(node("n").gpus(8).tainted("team", "b"));
  CHECK(s.decide() == Texts{"tolerant → n"});
  s.has(node("n").gpus(8).cordoned().labelled("zone", "z1"));
  CHECK(s.decide().empty());
  s.has(node("n").gpus(8).labelled("zone", "z1"));
  CHECK(s.decide() == Texts{"choosy → n"});
}

TEST_CASE("of many alike as many come back as there is room for, the oldest first") {
  Scheduler s;
  s.has(node("n").gpus(2));
  s.has(their_pod("theirs").gpus(2).on("n"));
  s.synced();
  for (int i = 9; i >= 0; --i) {
    s.has(our_pod("p" + std::to_string(i)).gpus(1).created_at(kStart + std::chrono::seconds(i)));
  }
  REQUIRE(s.decide().size() == 10);
  s.pod_gone(their_pod("theirs"));
  CHECK(s.decide() == Texts{"p0 → n", "p1 → n"});
  CHECK(s.engine.pending() == PendingPods{.unschedulable = 8});
}

TEST_CASE("room goes to the more important shape") {
  Scheduler s;
  s.has(node("n").gpus(4));
  s.has(their_pod("theirs").gpus(4).on("n"));
  s.synced();
  s.has(our_pod("small").gpus(1));
  s.has(our_pod("large").gpus(4).priority(10));
  REQUIRE(s.decide().size() == 2);
  s.has(our_pod("newcomer").gpus(1).priority(5));
  s.pod_gone(their_pod("theirs"));
  CHECK(s.decide() ==
        Texts{"large → n",
              "newcomer waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu."});
}

TEST_CASE("a refused pod comes back with the changes that its constraint names") {
  Scheduler s;
  s.has(node("n").gpus(1));
  s.synced();
  s.has(our_pod("a").gpus(1).labelled("waits-for", "x").generation(3));
  const auto refused = s.decisions();
  REQUIRE(refused.size() == 1);
  CHECK(std::get<decision::Unschedulable>(refused[0]) ==
        decision::Unschedulable{.pod = Scheduler::ref(our_pod("a")),
                                .scheduler_name = kOurs,
                                .generation = 3,
                                .message = "0/1 nodes are available: waiting for x.",
                                .details = "",
                                .plugins = {"WaitsForNamespace"},
                                .attempts = 1});
  s.has(node("m").gpus(1));
  CHECK(s.decide().empty());
  s.has(name_space("y"));  // asked again; the same answer is not repeated
  CHECK(s.decide().empty());
  CHECK(s.engine.pending() == PendingPods{.unschedulable = 1});
  s.has(name_space("x"));
  CHECK(s.decide() == Texts{"a → m"});
}

TEST_CASE("who waits long is tried anew, and told anew") {
  Scheduler s({.max_unschedulable_wait = 300s});
  s.has(node("n").gpus(1));
  s.synced();
  s.has(our_pod("large").gpus(2));
  s.has(our_pod("refused").labelled("waits-for", "x"));
  REQUIRE(s.decide().size() == 2);
  CHECK(s.engine.next_wakeup() == kStart + 300s);
  s.now += 299s;
  s.has(node("m").gpus(1));
  CHECK(s.decide().empty());
  s.now += 1s;
  CHECK(s.decide() == Texts{"large waits: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
                            "refused waits: 0/2 nodes are available: waiting for x."});
  CHECK(s.engine.next_wakeup() == kStart + 600s);
}
