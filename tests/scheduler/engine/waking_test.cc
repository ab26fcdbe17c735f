// Which change brings which waiting pod back, and in which order.
#include "scheduler/queue/queues.h"
#include "tests/scheduler/engine/quota_cluster.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <algorithm>
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

TEST_CASE("a node that becomes right while it is full takes waiting pods once it has room") {
  const bool by_quota = GENERATE(false, true);
  QuotaCluster s;
  if (by_quota) s.has(gpu_quota("team").of("default").line("*", 100));
  for (const char* name : {"a", "b"}) {
    s.has(node(name).gpus(2));
    s.has(their_pod(std::string("on-") + name).gpus(2).on(name));
  }
  s.has(our_pod("choosy").gpus(1).selects("zone", "z1"));
  s.has(our_pod("large").gpus(4));
  CHECK(s.decide().size() == 2);
  s.has(node("a").gpus(2).labelled("zone", "z1"));
  s.has(node("b").gpus(4));
  CHECK(s.decide().empty());
  s.pod_gone(their_pod("on-a"));
  CHECK(s.decide() == Texts{"choosy → a"});
  s.pod_gone(their_pod("on-b"));
  CHECK(s.decide() == Texts{"large → b"});
}

TEST_CASE("a pod that nodes refuse by their facts comes back however often pods ended before") {
  Scheduler s;
  s.has(node("n").gpus(2));
  s.has(their_pod("first").gpus(1).on("n"));
  s.has(their_pod("second").gpus(1).on("n"));
  s.synced();
  s.has(our_pod("choosy").gpus(1).selects("zone", "z1"));
  REQUIRE(s.decide().size() == 1);
  s.pod_gone(their_pod("first"));
  s.decide();
  s.pod_gone(their_pod("second"));
  CHECK(s.decide().empty());
  s.has(node("n").gpus(2).labelled("zone", "z1"));
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

TEST_CASE("each kind of change wakes the pods that wait for it, and takes back what it gave") {
  struct Case {
    const char* label;
    std::function<void(Scheduler&)> comes;
    std::function<void(Scheduler&)> goes;
  };
  const auto upsert = []<typename Object>(Object made) {
    made.metadata.name = "x";
    return [made](Scheduler& s) { s.apply(event::Upserted<Object>{made}); };
  };
  k8s::CsiStorageCapacity capacity;
  capacity.metadata.namespace_ = "ns";
  const PodBuilder x = their_pod("x").labelled("is", "x").on("n");
  const Case cases[] = {
      {"waits-for-node", [](Scheduler& s) { s.has(node("x").cordoned()); },
       [](Scheduler& s) { s.node_gone("x"); }},
      {"waits-for-pod", [&](Scheduler& s) { s.has(x); }, [&](Scheduler& s) { s.pod_gone(x); }},
      {"waits-for-claim", [](Scheduler& s) { s.has(claim("x", "")); },
       [](Scheduler& s) {
         s.apply(event::VolumeClaimDeleted{"x", "default"});
       }},
      {"waits-for-volume", [](Scheduler& s) { s.has(volume("x")); },
       [](Scheduler& s) { s.apply(event::VolumeDeleted{"x"}); }},
      {"waits-for-storage-class", upsert(k8s::StorageClass()),
       [](Scheduler& s) { s.apply(event::Deleted<k8s::StorageClass>{"x"}); }},
      {"waits-for-csi-node", upsert(k8s::CsiNode()),
       [](Scheduler& s) { s.apply(event::Deleted<k8s::CsiNode>{"x"}); }},
      {"waits-for-csi-driver", upsert(k8s::CsiDriver()),
       [](Scheduler& s) { s.apply(event::Deleted<k8s::CsiDriver>{"x"}); }},
      {"waits-for-csi-storage-capacity", upsert(capacity),
       [](Scheduler& s) {
         s.apply(event::Deleted<k8s::CsiStorageCapacity>{"x", "ns"});
       }},
      {"waits-for-volume-attachment", upsert(k8s::VolumeAttachment()),
       [](Scheduler& s) { s.apply(event::Deleted<k8s::VolumeAttachment>{"x"}); }},
      {"waits-for-class", upsert(k8s::DeviceClass()),
       [](Scheduler& s) { s.apply(event::Deleted<k8s::DeviceClass>{"x"}); }},
      {"waits-for", [](Scheduler& s) { s.has(name_space("x")); },
       [](Scheduler& s) { s.apply(event::NamespaceDeleted{"x"}); }},
  };
  for (const Case& c : cases) {
    CAPTURE(c.label);
    Scheduler s;
    s.has(node("n").gpus(8));
    s.synced();
    s.has(our_pod("a").labelled(c.label, "x"));
    REQUIRE(s.decide().size() == 1);
    // Of every other kind something comes, which does not help.
    for (const Case& other : cases) {
      if (&other == &c) continue;
      other.comes(s);
      CHECK(s.decide().empty());
      other.goes(s);
      CHECK(s.decide().empty());
    }
    c.comes(s);
    CHECK(s.decide() == Texts{"a → n"});
    c.goes(s);
    s.has(our_pod("late").labelled(c.label, "x"));
    REQUIRE(s.decide().size() == 1);
    CHECK(s.engine.pending() == PendingPods{.unschedulable = 1});
  }
}

TEST_CASE("whatever ends a pod on a node wakes those that wait for its end") {
  const k8s::Pod x = our_pod("x").labelled("is", "x");
  struct Case {
    const char* name;
    std::function<void(Scheduler&)> ends;
    Texts want;
  };
  const Case cases[] = {
      {"it is deleted", [&](Scheduler& s) { s.pod_gone(x); }, {"a → n"}},
      {"it finishes",
       [&](Scheduler& s) { s.has(our_pod("x").labelled("is", "x").on("n").finished()); },
       {"a → n"}},
      {"its bind fails", [&](Scheduler& s) { s.bind_failed(x, "n"); }, {"a → n"}},
      {"its bind to another node fails", [&](Scheduler& s) { s.bind_failed(x, "m"); }, {}},
      {"it is another by its label",
       [&](Scheduler& s) { s.has(our_pod("x").labelled("is", "y").on("n")); },
       {}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Scheduler s;
    s.has(node("n").gpus(8));
    s.synced();
    s.has(x);
    REQUIRE(s.decide() == Texts{"x → n"});
    s.has(our_pod("a").labelled("waits-for-end-of", "x"));
    REQUIRE(s.decide() == Texts{"a waits: 0/1 nodes are available: waits-for-end-of x."});
    c.ends(s);
    CHECK(s.decide() == c.want);
  }
}

TEST_CASE(
    "a pod counts as bound for constraints from its decision on, and with its latest labels") {
  Scheduler s;
  s.has(node("n").gpus(8));
  s.synced();
  s.has(our_pod("a").labelled("waits-for-pod", "x"));
  s.has(our_pod("b").labelled("waits-for-pod", "y"));
  REQUIRE(s.decide().size() == 2);
  s.has(our_pod("x").labelled("is", "x"));
  CHECK(s.decide() == Texts{"x → n", "a → n"});
  // While its bind is on the way.
  s.has(our_pod("x").labelled("is", "y"));
  CHECK(s.decide() == Texts{"b → n"});
  // And after it.
  s.has(our_pod("c").labelled("waits-for-pod", "z"));
  REQUIRE(s.decide().size() == 1);
  s.has(our_pod("x").labelled("is", "z").on("n"));
  CHECK(s.decide() == Texts{"c → n"});
}

TEST_CASE("a refusal is told again once the pod was told something else") {
  const auto objection = "a waits: 0/1 nodes are available: waiting for x.";
  const auto waiting = our_pod("a").gpus(2).labelled("waits-for", "x");
  Scheduler s;
  s.has(node("n").gpus(1));
  s.synced();
  s.has(waiting);
  REQUIRE(s.decide() == Texts{objection});

  SECTION("that no node has room") {
    s.has(name_space("x"));
    REQUIRE(s.decide() ==
            Texts{"a waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu."});
    s.apply(event::NamespaceDeleted{"x"});
    s.has(node("n").gpus(2));
    CHECK(s.decide() == Texts{objection});
  }
  SECTION("that it goes to a node, where its bind failed") {
    s.has(name_space("x"));
    s.has(node("n").gpus(2));
    REQUIRE(s.decide() == Texts{"a → n"});
    s.apply(event::NamespaceDeleted{"x"});
    s.bind_failed(waiting, "n");
    s.now += 1s;
    CHECK(s.decide() == Texts{objection});
  }
  SECTION("that its quota has no room") {
    const k8s::GpuQuota quota = gpu_quota("q").of("default").line("*", 1).opens_when_deleted();
    s.has(name_space("x"));
    s.apply(event::QuotaUpserted{quota});
    REQUIRE(s.decide() == Texts{"a waits: quota q: * needs 2, 0 of 1 in use; it can never give "
                                "that much"});
    s.apply(event::NamespaceDeleted{"x"});
    s.apply(event::QuotaDeleted{"q"});
    CHECK(s.decide() == Texts{objection});
  }
  SECTION("or was changed itself") {
    s.has(PodBuilder(waiting).priority(1));
    CHECK(s.decide() == Texts{objection});
  }
  SECTION("but not else") {
    s.has(name_space("y"));
    CHECK(s.decide().empty());
  }
}

TEST_CASE("a pod that no node can ever take is told so, whatever constraints say") {
  const PodBuilder never = our_pod("a").gpus(1).annotated("gpu-scheduler.io/gpu-type", "!");
  for (const bool under_quota : {false, true}) {
    CAPTURE(under_quota);
    Scheduler s;
    s.has(node("n").gpus(1).product("NVIDIA-L4"));
    if (under_quota) s.apply(event::QuotaUpserted{gpu_quota("q").of("default").line("*", 1)});
    s.synced();
    s.has(never);
    const Texts told = s.decide();
    REQUIRE(told.size() == 1);
    REQUIRE(told[0].find("gpu-type") != std::string::npos);
    s.pod_gone(never);
    s.has(PodBuilder(never).labelled("waits-for", "x"));
    CHECK(s.decide() == told);
  }
}

TEST_CASE("thousands of pods that all differ do not keep another namespace's pod waiting") {
  constexpr int kNodes = 1'000;
  constexpr auto kInRound = static_cast<int>(Queues::kSearchedInRound) / kNodes;
  Scheduler s;
  for (int i = 0; i < kNodes; ++i) s.has(node("n" + std::to_string(i)).gpus(1).cpu("8"));
  s.synced();
  for (int i = 0; i < 2 * kInRound; ++i) {
    s.has(our_pod("p" + std::to_string(i))
              .in_namespace("crowd")
              .cpu(std::to_string(9'000 + i) + "m")
              .priority(5)
              .created_at(kStart));
  }
  s.has(our_pod("late").in_namespace("neighbour").gpus(1).created_at(kStart + 1s));
  const Texts decided = s.decide();
  REQUIRE(decided.size() == 2 * kInRound + 1);
  CHECK(decided[kInRound].starts_with("late → "));
}

TEST_CASE("nor do thousands of pods with rules of their own") {
  constexpr int kNodes = 2'000;
  constexpr auto kInRound = static_cast<int>(Queues::kSearchedInRound) / kNodes;
  QuotaCluster s({"InterPodAffinity"});
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    s.has(node(name).gpus(1).labelled("host", name));
  }
  for (int i = 0; i < 2 * kInRound; ++i) {
    const std::string own = "p" + std::to_string(i);
    s.has(our_pod(own)
              .in_namespace("crowd")
              .near(pods_like({{"app", own}}, "host"))
              .created_at(kStart));
  }
  s.has(our_pod("late").in_namespace("neighbour").gpus(1).created_at(kStart + 1s));
  const Texts decided = s.decide();
  REQUIRE(decided.size() == 2 * kInRound + 1);
  const auto late = std::find_if(decided.begin(), decided.end(),
                                 [](const auto& text) { return text.starts_with("late → "); });
  CHECK(late - decided.begin() <= kInRound);
}
