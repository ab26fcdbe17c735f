// Pods that start together, or not at all.
#include "scheduler/gpu/wishes.h"
#include "tests/scheduler/engine/preempting.h"
#include "tests/scheduler/engine/quota_cluster.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

PodBuilder& member(PodBuilder& pod, std::string_view group, int min_count) {
  return pod.annotated(gpu::kPodGroupAnnotation, group)
      .annotated(gpu::kMinCountAnnotation, std::to_string(min_count));
}

// Pod `i` of the group.
PodBuilder of(std::string_view group, int min_count, int i, int gpus = 8) {
  PodBuilder made = our_pod(std::string(group) + "-" + std::to_string(i));
  return member(made.gpus(gpus), group, min_count);
}

struct Groups : QuotaCluster {
  using QuotaCluster::QuotaCluster;
  void has_nodes(int n, int gpus = 8) {
    for (int i = 0; i < n; ++i) has(node("n" + std::to_string(nodes++)).gpus(gpus));
  }
  // So many pods of the group; returns the last.
  k8s::Pod has_pods(std::string_view group, int min_count, int n, int gpus = 8) {
    k8s::Pod last;
    for (int i = 0; i < n; ++i) has(last = of(group, min_count, i, gpus));
    return last;
  }
  // How many pods were bound by the next decisions, and what the others are told, each once.
  struct Outcome {
    int bound = 0;
    Texts told;
    friend bool operator==(const Outcome&, const Outcome&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
      out << outcome.bound << " bound";
      for (const std::string& text : outcome.told) out << "; " << text;
      return out;
    }
  };
  Outcome outcome() {
    Outcome all;
    for (const Decision& decision : decisions()) {
      if (std::holds_alternative<decision::Bind>(decision)) ++all.bound;
      if (const auto* told = std::get_if<decision::Unschedulable>(&decision)) {
        std::string text = told->message;
        if (!told->details.empty()) text += " | " + told->details;
        if (std::find(all.told.begin(), all.told.end(), text) == all.told.end()) {
          all.told.push_back(text);
        }
      }
    }
    return all;
  }
  int nodes = 0;
};

Groups::Outcome all_bound(int n) { return {n, {}}; }

}  // namespace

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
    CHECK(s.outcome().bound <= 1);
  }
}

TEST_CASE("the pods may ask for different things: the largest are seated first") {
  Groups s;
  s.has(node("a").gpus(8).cpu("8"));
  s.has(node("b").gpus(8).cpu("8"));
  PodBuilder leader = our_pod("leader");
  s.has(member(leader.cpu("6"), "train", 3));
  for (int i = 0; i < 2; ++i) s.has(of("train", 3, i).cpu("2"));
  CHECK(s.outcome() == all_bound(3));
}

TEST_CASE("a pod that finds no room is replaced by one beyond those that start together") {
  Groups s;
  s.has_nodes(2, 4);
  s.has(of("train", 2, 0, 8));  // the oldest
  s.has(of("train", 2, 1, 4));
  CHECK(s.outcome().bound == 0);
  s.has(of("train", 2, 2, 4));
  CHECK(s.outcome().bound == 2);
}

TEST_CASE("rules across nodes count the pods of the group, too") {
  SECTION("two on one node are forbidden") {
    Groups s({"InterPodAffinity"});
    s.has_nodes(2);
    const auto apart = [](int i) {
      return of("train", 3, i, 1)
          .labelled("app", "train")
          .away_from(pods_like({{"app", "train"}}, "kubernetes.io/hostname"));
    };
    for (int i = 0; i < 3; ++i) s.has(apart(i));
    CHECK(s.outcome() ==
          Groups::Outcome{0,
                          {"0/2 nodes are available: 2 node(s) didn't match pod anti-affinity "
                           "rules. | There is room for 2 of the 3 pods that start together as "
                           "group train."}});
    s.has_nodes(1);
    CHECK(s.outcome() == all_bound(3));
  }
  SECTION("one of the group keeps the others away from its node") {
    Groups s({"InterPodAffinity"});
    s.has_nodes(1);
    s.has(of("train", 2, 0, 2).away_from(pods_like({{"app", "x"}}, "kubernetes.io/hostname")));
    s.has(of("train", 2, 1, 1).labelled("app", "x"));
    CHECK(s.outcome().bound == 0);
    s.has_nodes(1);
    CHECK(s.outcome() == all_bound(2));
  }
  SECTION("all in one zone, with the first") {
    Groups s({"InterPodAffinity"});
    for (const char* zone : {"a", "b"}) {
      for (int i = 0; i < 2; ++i) {
        s.has(node(zone + std::to_string(i)).gpus(8).labelled("zone", zone));
      }
    }
    const auto near = [](int i) {
      return of("train", 3, i).labelled("app", "train").near(pods_like({{"app", "train"}}, "zone"));
    };
    for (int i = 0; i < 3; ++i) s.has(near(i));
    CHECK(s.outcome().bound == 0);
    s.has(node("a2").gpus(8).labelled("zone", "a"));
    CHECK(s.outcome() == all_bound(3));
  }
}

TEST_CASE("if something refuses one pod of the group, all wait for what may lift that") {
  Groups s;
  s.has_nodes(2);
  s.has(of("train", 2, 0));
  s.has(of("train", 2, 1).labelled("waits-for", "blue"));
  CHECK(s.outcome() == Groups::Outcome{0,
                                       {"0/2 nodes are available: waiting for blue. | This is "
                                        "about pod train-1 of its group train."}});
  k8s::Namespace blue;
  blue.metadata.name = "blue";
  s.has(blue);
  CHECK(s.outcome() == all_bound(2));
}

TEST_CASE("a group starts when its quota has room for all of it") {
  Groups s;
  for (const char* name : {"a", "b"}) s.has(h100(name));
  s.has(gpu_quota("team").of("vision").line(kH100, 8));
  const auto pod = [](int i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), 4);
    return member(made, "train", 3);
  };
  for (int i = 0; i < 3; ++i) s.has(pod(i));
  CHECK(s.outcome() ==
        Groups::Outcome{0,
                        {"quota team: NVIDIA-H100-80GB-HBM3 needs 12, 0 of 8 in use; it can never "
                         "give that much | There is room for 2 of the 3 pods that start together "
                         "as group train."}});
  CHECK(s.use("team") == use(8, 0));
  s.has(in("vision", "small", 8).created_at(kStart + 1s));
  REQUIRE(s.decide() == Texts{"small → a"});
  SECTION("a larger one") {
    s.has(gpu_quota("team").of("vision").line(kH100, 16).generation(2));
    CHECK(s.outcome().bound == 0);
    s.pod_gone(in("vision", "small", 8));
    CHECK(s.outcome() == all_bound(3));
    CHECK(s.use("team") == use(16, 12));
  }
  SECTION("none at all any more") {
    s.apply(event::QuotaDeleted{"team"});
    s.now += 1h;
    s.pod_gone(in("vision", "small", 8));
    static_cast<void>(s.decide());
  }
}

TEST_CASE("what a group borrows is charged as if its pods came one by one") {
  Groups s;
  for (const char* name : {"a", "b"}) s.has(h100(name));
  s.has(gpu_quota("team").of("vision").in_cohort("c").line(kH100, 4));
  s.has(gpu_quota("other").of("audio").in_cohort("c").line(kH100, 12));
  for (int i = 0; i < 3; ++i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), 4);
    s.has(member(made, "train", 3));
  }
  CHECK(s.outcome() == all_bound(3));
  CHECK(s.use("team") == use(4, 12, 8));
}

TEST_CASE("a Strict quota keeps its order, whether groups or pods wait") {
  Groups s;
  s.has(h100("a"));
  s.has(gpu_quota("team").of("vision").strict().line(kH100, 8));
  for (int i = 0; i < 2; ++i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), 4);
    s.has(member(made, "train", 2));
  }
  s.has(in("vision", "full", 8).created_at(kStart - 1s));
  s.has(in("vision", "small", 1).created_at(kStart + 1s));
  const Texts made = s.decide();
  CHECK(made.size() == 4);
  CHECK(made.at(0) == "full → a");
  s.pod_gone(in("vision", "full", 8));
  CHECK(s.outcome().bound == 2);
}

TEST_CASE("quota is held for a group that has waited long") {
  Groups s;
  for (const char* name : {"a", "b"}) s.has(h100(name));
  s.has(gpu_quota("team").of("vision").line(kH100, 8));
  std::vector<k8s::Pod> small;
  for (int i = 0; i < 8; ++i) {
    small.push_back(in("vision", "small-" + std::to_string(i), 1));
    s.has(small.back());
  }
  REQUIRE(s.outcome() == all_bound(8));
  for (int i = 0; i < 2; ++i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), 4).created_at(kStart + 1s);
    s.has(member(made, "train", 2));
  }
  CHECK(s.outcome().bound == 0);
  s.now += 11min;
  static_cast<void>(s.decide());
  int bound = 0;
  for (int i = 0; i < 8; ++i) {
    s.pod_gone(small[static_cast<std::size_t>(i)]);
    s.has(in("vision", "more-" + std::to_string(i), 1).created_at(kStart + 2s));
    s.now += 1s;
    const int now_bound = s.outcome().bound;
    CHECK(now_bound == (i == 7 ? 2 : 0));
    bound += now_bound;
  }
  CHECK(bound == 2);
}

TEST_CASE("nobody is evicted for a group before it has started") {
  Preempting s;
  s.has(node("n").gpus(8));
  s.runs("low", "n", kLow, 8);
  for (int i = 0; i < 2; ++i) {
    PodBuilder made = our_pod("train-" + std::to_string(i)).gpus(4).priority(kHigh);
    s.has(member(made, "train", 2));
  }
  const Texts made = s.decide();
  REQUIRE(made.size() == 2);
  CHECK(made[0].starts_with("train-0 waits: 0/1 nodes are available: 1 Insufficient"));
}

TEST_CASE("groups that wait do not wake each other") {
  Groups s;
  s.has_nodes(3);
  s.has_pods("a", 4, 4);
  s.has_pods("b", 4, 4);
  s.has_pods("c", 4, 4);
  CHECK(s.outcome().told.size() == 3);
  s.has(node("n0").gpus(8).labelled("x", "y"));
  CHECK(s.decide() == Texts{});
  // Attempts in vain are not made one after the other.
  for (int i = 0; i < 20; ++i) s.has(node("n0").gpus(8).labelled("x", std::to_string(i)));
  CHECK(s.decide() == Texts{});
  const auto wakeup = s.engine.next_wakeup();
  REQUIRE(wakeup);
  CHECK(*wakeup > s.now);
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

TEST_CASE("a group takes in no more pods than can start together") {
  Groups s;
  s.has_nodes(1);
  for (int i = 0; i < 1'002; ++i) s.has(of("train", 2, i));
  const Texts made = s.decide();
  CHECK(made.size() == 1'002);
  CHECK(made.at(0) ==
        "train-1000 waits: 0/1 nodes are available: 1000 pods of group train wait already.");
  s.has_nodes(1);
  CHECK(s.outcome().bound == 2);
  s.now += 1min;
  s.has_nodes(1'000);
  CHECK(s.outcome().bound == 1'000);
}

TEST_CASE("the groups of one namespace do not keep those of another from being tried again") {
  Groups s;
  for (int i = 0; i < 700; ++i) s.has(node("small-" + std::to_string(i)).gpus(1).cpu("1"));
  const auto in_namespace = [](const char* name, const std::string& group, int min, int i,
                               int gpus) {
    PodBuilder made = in(name, group + "-" + std::to_string(i), gpus);
    return member(made.cpu("500m"), group, min);
  };
  // Each attempt for these looks at hundreds of nodes hundreds of times.
  for (int g = 0; g < 5; ++g) {
    for (int i = 0; i < 800; ++i) s.has(in_namespace("many", "g" + std::to_string(g), 800, i, 1));
  }
  for (int i = 0; i < 2; ++i) s.has(in_namespace("few", "pair", 2, i, 8));
  CHECK(s.outcome().bound == 0);
  sched::Time waited_until = s.now + 10s;
  s.has(node("large-0").gpus(8));
  s.has(node("large-1").gpus(8));
  int bound = 0;
  while (bound == 0 && s.now < waited_until) {
    bound = s.outcome().bound;
    const auto wakeup = s.engine.next_wakeup();
    REQUIRE(wakeup);
    s.now = std::max(s.now + 1ms, *wakeup);
  }
  CHECK(bound == 2);
}

TEST_CASE("pods beyond those that start together get no GPUs without quota") {
  Groups s;
  s.has(h100("a"));
  s.has(gpu_quota("team").of("vision").line(kH100, 1));
  PodBuilder lead = our_pod("lead").in_namespace("vision").cpu("1000");
  s.has(member(lead, "train", 1));
  PodBuilder gpus = in("vision", "gpus", 8);
  s.has(member(gpus, "train", 1));
  CHECK(s.outcome().bound == 0);
}

TEST_CASE("most_per_pod is of one pod of a group") {
  Groups s;
  s.has(h100("a"));
  s.has(gpu_quota("team").of("vision").line(kH100, 8).most_per_pod(4));
  const k8s::Pod small = in("vision", "small", 4);
  s.has(small);
  REQUIRE(s.outcome().bound == 1);
  const auto pod = [](const std::string& group, int i, int gpus) {
    PodBuilder made = in("vision", group + "-" + std::to_string(i), gpus);
    return member(made, group, 2);
  };
  for (int i = 0; i < 2; ++i) s.has(pod("two", i, 4));
  CHECK(s.outcome().told.at(0).starts_with(
      "quota team: NVIDIA-H100-80GB-HBM3 needs 8, 4 of 8 in use, first in line; 4 more must be"));
  for (int i = 0; i < 2; ++i) s.has(pod("large", i, 5));
  CHECK(s.outcome().told.at(0).find("can never give") != std::string::npos);
  s.pod_gone(small);
  CHECK(s.outcome() == all_bound(2));
}

TEST_CASE("a group that its Strict quota can never have does not keep the line waiting") {
  Groups s;
  s.has(h100("a"));
  s.has(gpu_quota("team").of("vision").strict().line(kH100, 8));
  for (int i = 0; i < 3; ++i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), 4);
    s.has(member(made, "train", 3));
  }
  s.has(in("vision", "small", 1).created_at(kStart + 1s));
  CHECK(s.outcome().bound == 1);
  s.has(gpu_quota("team").of("vision").strict().line(kH100, 16).generation(2));
  s.has(h100("b"));
  CHECK(s.outcome().bound == 3);
}

TEST_CASE("pods that have to be in one zone find the zone that has room") {
  Groups s({"InterPodAffinity"});
  s.has(node("a0").gpus(8).labelled("zone", "a"));
  for (const char* name : {"b0", "b1"}) s.has(node(name).gpus(8).labelled("zone", "b"));
  for (const char* name : {"c0", "c1", "c2"}) s.has(node(name).gpus(8).labelled("zone", "c"));
  for (int i = 0; i < 3; ++i) {
    s.has(of("train", 3, i).labelled("app", "t").near(pods_like({{"app", "t"}}, "zone")));
  }
  CHECK(s.outcome() == all_bound(3));
}

TEST_CASE("what a group prefers does not take it out of the line of its quota") {
  Groups s({"InterPodAffinity"});
  s.has(h100("a"));
  s.has(gpu_quota("team").of("vision").strict().line(kH100, 24));
  for (int i = 0; i < 2; ++i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), 8);
    made.rather_near(1, pods_like({{"app", "x"}}, "zone"));
    s.has(member(made, "train", 2));
  }
  s.has(in("vision", "small", 1).created_at(kStart + 1s));
  CHECK(s.outcome().bound == 0);
}

TEST_CASE("a late pod of a group does not wait for pods that have finished") {
  Groups s;
  s.has_nodes(2);
  s.has_pods("train", 2, 3);
  REQUIRE(s.outcome().bound == 2);
  for (int i = 0; i < 2; ++i) s.has(of("train", 2, i).finished());
  CHECK(s.outcome().bound == 1);
}

TEST_CASE(
    "a pod beyond those that start together, which is refused, does not keep the others waiting") {
  Groups s;
  s.has_nodes(2);
  s.has_pods("train", 2, 2);
  s.has(of("train", 2, 2).labelled("waits-for", "blue"));
  CHECK(s.outcome().bound == 2);
}

TEST_CASE("pods that cannot be prepared beside each other start not at all") {
  Groups s;
  s.has_nodes(2);
  s.has(claim("shared", ""));
  for (int i = 0; i < 2; ++i) s.has(of("train", 2, i).labelled("binds-claim", "shared"));
  const Texts made = s.decide();
  REQUIRE(made.size() == 2);
  CHECK(made[0] ==
        "train-0 waits: 0/2 nodes are available: the pods of a group exclude each other.");
  CHECK(s.engine.pending().unschedulable == 2);
  // Nothing is left behind: both nodes take others.
  for (const char* name : {"x", "y"}) s.has(our_pod(name).gpus(8));
  CHECK(s.outcome() == all_bound(2));
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
  s.now += 30s;
  s.has_nodes(1);
  CHECK(s.decide().size() == 4);
}

TEST_CASE("new groups of one namespace do not delay the next attempts for those of another") {
  Groups s;
  s.has_nodes(400);
  for (int i = 0; i < 2; ++i)
    s.has(of("few", 2, i, 16).in_namespace("few").uid("f" + std::to_string(i)));
  REQUIRE(s.outcome().bound == 0);
  for (int g = 0; g < 20; ++g) s.has_pods("many" + std::to_string(g), 401, 401);
  static_cast<void>(s.outcome());
  s.has_nodes(2, 16);
  CHECK(s.outcome().bound == 2);
}
