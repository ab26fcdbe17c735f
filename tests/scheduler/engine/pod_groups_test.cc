// Groups of pods: when they start, all or none, and what their pods are told.
#include "scheduler/engine/world/message_budget.h"
#include "tests/scheduler/engine/grouped_pods.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

TEST_CASE("no pod of a group gets a node before as many are there as start together") {
  Groups s;
  s.has_nodes(8);
  int there = 0;
  for (const int more : {1, 2, 4}) {
    for (int i = 0; i < more; ++i) s.has(of("train", 8, there++));
    CHECK(s.outcome() == Groups::Outcome{});
    s.now += 100ms;
  }
  s.has(of("train", 8, there));
  CHECK(s.outcome() == all_bound(8));
}

TEST_CASE("where pods of a group state different numbers, the largest of those that wait counts") {
  Groups s;
  s.has_nodes(8);
  const k8s::Pod most = of("train", 4, 0);
  s.has(most);
  for (int i = 1; i < 3; ++i) s.has(of("train", 2, i));
  CHECK(s.outcome() == Groups::Outcome{});
  SECTION("all are there") {
    s.has(of("train", 3, 3));
    CHECK(s.outcome() == all_bound(4));
  }
  SECTION("it goes") {
    s.pod_gone(most);
    CHECK(s.outcome() == all_bound(2));
  }
}

TEST_CASE("an autoscaler is not told of a group that lacks pods, but of one that lacks room") {
  Groups s;
  s.has_nodes(1);
  const auto reason = [&s] {
    const auto decision = s.engine.step(s.now);
    return std::string(to_string(std::get<decision::Unschedulable>(decision.value()).reason));
  };
  s.has_pods("train", 8, 3);
  CHECK(s.decide() == Texts{});
  s.now += 1s;
  CHECK(reason() == "WaitingForPods");
  CHECK(s.engine.in_line().front().misses_pods);
  CHECK(s.decide().size() == 2);
  for (int i = 3; i < 8; ++i) s.has(of("train", 8, i));
  CHECK(reason() == "Unschedulable");
  CHECK_FALSE(s.engine.in_line().front().misses_pods);
}

TEST_CASE("that pods are missing is told when none has come for a second, and to each pod once") {
  Groups s;
  s.has_nodes(8);
  s.has_pods("train", 8, 3);
  CHECK(s.decide() == Texts{});
  REQUIRE(s.engine.next_wakeup() == s.now + 1s);
  s.now += 1s;
  const std::string text = " waits: 3 of the 8 pods that start together as group train are there";
  CHECK(s.decide() == Texts{"train-0" + text, "train-1" + text, "train-2" + text});
  s.has_nodes(1);
  CHECK(s.decide() == Texts{});
  s.has(of("train", 8, 3));
  CHECK(s.decide() == Texts{});
  s.now += 1s;
  // The others are told another number half a minute after the last.
  CHECK(s.decide().size() == 1);
  REQUIRE(s.engine.next_wakeup() == kStart + 31s);
  s.now = kStart + 31s;
  CHECK(s.decide().size() == 3);
  SECTION("also when one is deleted") {
    s.pod_gone(of("train", 8, 3));
    CHECK(s.decide() == Texts{});
    s.now += 30s;
    CHECK(s.decide() == Texts{"train-0" + text, "train-1" + text, "train-2" + text});
  }
  SECTION("the last one is deleted: another may use the name") {
    for (int i = 0; i < 4; ++i) s.pod_gone(of("train", 8, i));
    s.has_pods("train", 2, 2);
    CHECK(s.outcome() == all_bound(2));
  }
}

TEST_CASE("of a claim that comes and goes again and again a group is told seldom, and in the end") {
  Groups s({"VolumeRestrictions", "VolumeBinding"});
  s.has_nodes(4);
  s.has(of("train", 4, 0).mounts_claim("c"));
  for (int i = 1; i < 4; ++i) s.has(of("train", 4, i));
  CHECK(decisions_while_claim_flips(s, "c") == 4 * MessageBudget::kAtOnce);
  s.now += 30s;
  const Groups::Outcome outcome = s.outcome();
  REQUIRE(outcome.told.size() == 1);
  CHECK(outcome.told[0].find("persistentvolumeclaim \"c\" not found") != std::string::npos);
}

TEST_CASE("a group gets all its nodes or none") {
  Groups s;
  s.has_nodes(12);
  s.has_pods("first", 8, 8);
  s.has_pods("second", 8, 8);
  const std::string wait =
      "0/12 nodes are available: 12 Insufficient nvidia.com/gpu. | There is room for 4 of the 8 "
      "pods that start together as group second.";
  CHECK(s.outcome() == Groups::Outcome{8, {wait}});
  SECTION("others have the room meanwhile") {
    s.has(our_pod("single").gpus(8).created_at(kStart + 1s));
    CHECK(s.outcome() == all_bound(1));
  }
  SECTION("it starts as soon as there is enough") {
    s.has_nodes(3);
    CHECK(s.outcome().bound == 0);
    s.has_nodes(1);
    CHECK(s.outcome() == all_bound(8));
  }
  SECTION("what another group gives back is enough, too") {
    for (int i = 0; i < 8; ++i) {
      s.now += 1s;
      s.pod_gone(of("first", 8, i));
      CHECK(s.outcome().bound == (i == 3 ? 8 : 0));
    }
  }
}

TEST_CASE("pods beyond those that start together are placed one by one") {
  Groups s;
  s.has_nodes(5);
  s.has_pods("train", 4, 6);
  const Groups::Outcome outcome = s.outcome();
  CHECK(outcome.bound == 5);
  REQUIRE(outcome.told.size() == 1);
  CHECK(outcome.told[0].starts_with(
      "0/5 nodes are available: 5 Insufficient nvidia.com/gpu. | nvidia.com/gpu: needs 8"));
  SECTION("so is one that comes again") {
    s.pod_gone(of("train", 4, 0));
    CHECK(s.decide().size() == 1);
    s.has(of("train", 4, 0).uid("again"));
    s.has_nodes(1);
    CHECK(s.outcome().bound == 1);
  }
}

TEST_CASE("a scheduler that starts anew finds by their nodes that the group has started") {
  Groups s;
  s.has_nodes(8);
  for (int i = 0; i < 5; ++i) s.bound(of("train", 8, i), "n" + std::to_string(i));
  for (int i = 5; i < 8; ++i) s.has(of("train", 8, i));
  CHECK(s.outcome() == all_bound(3));
}

TEST_CASE("a pod whose bind fails is bound by itself; if all fail, all wait for each other") {
  Groups s;
  s.has_nodes(4);
  s.has_pods("train", 4, 4);
  REQUIRE(s.outcome() == all_bound(4));
  SECTION("one") {
    s.bind_failed(of("train", 4, 1), "n1");
    s.now += 2s;
    CHECK(s.decide() == Texts{"train-1 → n1"});
  }
  SECTION("all") {
    for (int i = 0; i < 4; ++i) s.bind_failed(of("train", 4, i), "n" + std::to_string(i));
    s.has(our_pod("single").gpus(8));
    CHECK(s.decide() == Texts{"single → n0"});
    s.now += 2s;
    CHECK(s.outcome().bound == 0);
    s.has_nodes(1);
    CHECK(s.outcome() == all_bound(4));
  }
}

TEST_CASE("pods of the last run that are being deleted are not of the next one") {
  Groups s;
  s.has_nodes(4);
  for (int i = 0; i < 4; ++i) {
    s.bound(of("train", 4, i).uid("old-" + std::to_string(i)).terminating(),
            "n" + std::to_string(i));
  }
  s.has_pods("train", 4, 3);
  CHECK(s.outcome() == Groups::Outcome{});
  s.has(of("train", 4, 3));
  CHECK(s.outcome().told.size() == 1);
  for (int i = 0; i < 3; ++i) s.pod_gone(of("train", 4, i).uid("old-" + std::to_string(i)));
  CHECK(s.outcome().bound == 0);
  s.pod_gone(of("train", 4, 3).uid("old-3"));
  CHECK(s.outcome() == all_bound(4));
}

TEST_CASE("a pod of the group that somebody else binds starts it") {
  Groups s;
  s.has_nodes(4);
  s.has_pods("train", 4, 3);
  REQUIRE(s.outcome() == Groups::Outcome{});
  s.bound(of("train", 4, 1), "n3");
  CHECK(s.outcome() == all_bound(2));
}

TEST_CASE("a pod with a gate is not there yet") {
  Groups s;
  s.has_nodes(4);
  s.has_pods("train", 4, 3);
  s.has(of("train", 4, 3).gated("example.com/quota"));
  s.now += 1s;
  CHECK(s.outcome().bound == 0);
  s.has(of("train", 4, 3));
  CHECK(s.outcome() == all_bound(4));
}

TEST_CASE("groups of one name in two namespaces are two") {
  Groups s;
  s.has_nodes(4);
  s.has(of("train", 2, 0));
  s.has(of("train", 2, 1).in_namespace("other").uid("x"));
  CHECK(s.outcome() == Groups::Outcome{});
  s.has(of("train", 2, 2).in_namespace("other").uid("y"));
  CHECK(s.outcome() == all_bound(2));
}

TEST_CASE("if pods name different numbers, the largest counts") {
  Groups s;
  s.has_nodes(4);
  s.has(of("train", 1, 0));
  s.has(of("train", 3, 1));
  CHECK(s.outcome() == Groups::Outcome{});
  s.has(of("train", 2, 2));
  CHECK(s.outcome() == all_bound(3));
}

TEST_CASE("annotations that cannot be read keep the pod waiting, and are told") {
  Groups s;
  s.has_nodes(1);
  s.has(our_pod("p").annotated("gpu-scheduler.io/pod-group", "train"));
  CHECK(s.decide() == Texts{"p waits: 0/1 nodes are available: gpu-scheduler.io/pod-group needs "
                            "gpu-scheduler.io/pod-group-min-count beside it."});
  s.has(our_pod("q").annotated("gpu-scheduler.io/pod-groups", "train"));
  CHECK(s.decide() == Texts{"q waits: 0/1 nodes are available: annotation "
                            "gpu-scheduler.io/pod-groups is not known; "
                            "gpu-scheduler.io/pod-group is."});
  s.has(our_pod("r").labelled(gpu::kMinCountAnnotation, "2"));
  CHECK(s.decide() == Texts{"r waits: 0/1 nodes are available: "
                            "gpu-scheduler.io/pod-group-min-count is an annotation, not a label."});
  SECTION("until they are changed") {
    s.has(our_pod("p"));
    CHECK(s.decide() == Texts{"p → n0"});
  }
}

TEST_CASE("a pod may join and leave a group by its annotations") {
  Groups s;
  s.has_nodes(2);
  s.has(of("train", 2, 0));
  REQUIRE(s.outcome() == Groups::Outcome{});
  SECTION("leave") {
    s.has(our_pod("train-0").gpus(8));
    CHECK(s.decide() == Texts{"train-0 → n0"});
  }
  SECTION("to another group") {
    s.has(of("other", 1, 0).uid("uid-default-train-0"));
    s.has(of("train", 2, 1));
    CHECK(s.decide() == Texts{"other-0 → n0"});
  }
}

TEST_CASE("a pod with a node is of the group that its annotations name now") {
  Groups s;
  s.has_nodes(4);
  const k8s::Pod first = s.has_pods("train", 1, 1);
  CHECK(s.outcome() == all_bound(1));
  s.bound(first, "n0");
  SECTION("of another one") {
    s.has(of("other", 2, 0));
    CHECK(s.outcome() == Groups::Outcome{});
    k8s::Pod moved = first;
    moved.metadata.annotations.set(gpu::kPodGroupAnnotation, "other");
    s.bound(moved, "n0");
    CHECK(s.outcome() == all_bound(1));
  }
  SECTION("of none") {
    k8s::Pod alone = first;
    alone.metadata.annotations = {};
    s.bound(alone, "n0");
  }
  // The first group has no pod with a node any more.
  s.has(of("train", 2, 1));
  CHECK(s.outcome() == Groups::Outcome{});
  s.has(of("train", 2, 2));
  CHECK(s.outcome() == all_bound(2));
}

TEST_CASE("pods that wait with a group are counted once, by what it waits for") {
  Groups s;
  s.has_nodes(1);
  s.has_pods("train", 4, 3);
  static_cast<void>(s.decide());
  s.now += 1s;
  REQUIRE(s.outcome().told.size() == 1);
  const GpuTotals totals = s.engine.gpu_totals();
  REQUIRE(totals.waiting.size() == 1);
  CHECK(totals.waiting.begin()->first.reason == GpuTotals::Reason::kGroup);
  CHECK(totals.waiting.begin()->second.pods == 3);
  const QueueEntries& entries = s.engine.queue_entries();
  const auto entered = [&](QueuePlace place, QueueEvent event) {
    return entries[static_cast<std::size_t>(place)][static_cast<std::size_t>(event)];
  };
  CHECK(entered(QueuePlace::kActive, QueueEvent::kPodAdd) == 3);
  CHECK(entered(QueuePlace::kRefused, QueueEvent::kAttemptFailure) == 3);
  s.has_nodes(3);
  s.has(of("train", 4, 3));
  REQUIRE(s.outcome() == all_bound(4));
  CHECK(entered(QueuePlace::kActive, QueueEvent::kPodAdd) == 4);
  CHECK(entered(QueuePlace::kActive, QueueEvent::kObjectChange) == 0);
}

TEST_CASE("answers name the pods of a waiting group, and why it waits") {
  Groups s;
  s.has_nodes(1);
  s.has_pods("train", 2, 2);
  s.has(our_pod("single").gpus(8));
  REQUIRE(s.outcome().bound == 1);
  std::vector<PodInLine> pods = s.engine.in_line();
  REQUIRE(pods.size() == 2);
  for (const PodInLine& pod : pods) {
    CHECK(pod.group == "train");
    CHECK(pod.place == PodInLine::Place::kParked);
    CHECK(pod.asks == "8 GPU");
    CHECK(pod.group_waits ==
          "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. There is room for 0 of the 2 "
          "pods that start together as group train.");
  }
  CHECK(s.engine.find_in_line("default", "train-1")->group == "train");
  CHECK(s.engine.find_in_line("uid-default-train-1")->group == "train");
  CHECK(s.engine.in_line("other").empty());
  CHECK(s.engine.pending().unschedulable == 2);
  std::int64_t gpus = 0;
  for (const auto& [key, waiting] : s.engine.gpu_totals().waiting) gpus += waiting.gpus;
  CHECK(gpus == 16);
}

TEST_CASE("a late pod of a group does not wait for pods that have finished") {
  Groups s;
  s.has_nodes(2);
  s.has_pods("train", 2, 3);
  REQUIRE(s.outcome().bound == 2);
  for (int i = 0; i < 2; ++i) s.has(of("train", 2, i).finished());
  CHECK(s.outcome().bound == 1);
}

TEST_CASE("a late pod waits with the others if the binds of all of them have failed") {
  Groups s;
  s.has_nodes(4);
  s.has_pods("train", 4, 5);
  REQUIRE(s.outcome().bound == 4);
  for (int i = 0; i < 4; ++i) s.bind_failed(of("train", 4, i), "n" + std::to_string(i));
  s.has(our_pod("single").gpus(8));
  CHECK(s.decide() == Texts{"single → n0"});
  s.now += 2s;
  CHECK(s.outcome().bound == 0);
  s.has_nodes(1);
  CHECK(s.outcome().bound == 4);
}

TEST_CASE("a late pod of one group that goes over to another waits with that") {
  Groups s;
  s.has_nodes(2);
  s.has_pods("train", 2, 3);
  REQUIRE(s.outcome().bound == 2);
  s.has(of("other", 2, 2).uid("uid-default-train-2"));
  s.has_nodes(1);
  CHECK(s.outcome() == Groups::Outcome{});
}

TEST_CASE("what was decided on a pod that is gone is not told any more") {
  Groups s;
  s.has_nodes(4);
  s.has_pods("train", 4, 4);
  int bound = 0;
  while (const auto decided = s.engine.step(s.now)) {
    const auto* bind = std::get_if<decision::Bind>(&*decided);
    if (bind == nullptr) continue;
    CHECK(bind->pod.name != "train-3");
    if (++bound == 1) s.pod_gone(of("train", 4, 3));
  }
  CHECK(bound == 3);
}

TEST_CASE("numbers that change are told again after half a minute") {
  Groups s;
  s.has_pods("train", 4, 4);
  s.has_nodes(1);
  REQUIRE(s.decide().size() == 4);
  s.has_nodes(1);
  CHECK(s.decide() == Texts{});
  CHECK(s.engine.in_line().at(0).group_waits.find("room for 2 of the 4") != std::string::npos);
  // Also if nothing happens until then.
  REQUIRE(s.engine.next_wakeup() == kStart + 30s);
  s.now = kStart + 30s;
  CHECK(s.outcome() == Groups::Outcome{0,
                                       {"0/2 nodes are available: 2 Insufficient nvidia.com/gpu. | "
                                        "There is room for 2 of the 4 pods that start together as "
                                        "group train."}});
}
