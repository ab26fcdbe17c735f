// Groups of pods among others: quota, turns, and when they are tried again.
#include "tests/scheduler/engine/grouped_pods.h"
#include "tests/scheduler/engine/preempting.h"

#include <chrono>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

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
  SECTION("none at all, which opens the namespace") {
    s.has(gpu_quota("team").of("vision").line(kH100, 8).opens_when_deleted().generation(2));
    s.apply(event::QuotaDeleted{"team"});
    CHECK(s.outcome().bound == 0);
    s.pod_gone(in("vision", "small", 8));
    CHECK(s.outcome() == all_bound(3));
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

TEST_CASE("a group that was complete before a restart keeps its place in a Strict quota") {
  Groups s;
  s.engine = Engine(profiles(&s.told_bound), {});  // which has not seen all objects yet
  s.has(h100("a"));
  s.has(our_pod("guest").gpus(5).on("a"));
  s.has(gpu_quota("team").of("vision").strict().line(kH100, 8));
  for (int i = 0; i < 2; ++i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), 2).created_at(kStart + i * 2s);
    s.has(member(made, "train", 2));
  }
  s.has(in("vision", "small", 1).created_at(kStart + 1s));
  s.now = kStart + 10s;
  s.synced();
  CHECK(s.outcome().bound == 0);
  s.pod_gone(our_pod("guest"));
  CHECK(s.outcome().bound == 3);
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

TEST_CASE(
    "of equal priority, pods of no group are evicted before those of a group of which others run") {
  Preempting s;
  const auto runs_in = [&](std::string_view group, int i, const std::string& on) {
    const std::string name = std::string(group) + "-" + std::to_string(i);
    PodBuilder made = our_pod(name).priority(kLow).gpus(4).on(on).started_at(kStart + 1h);
    s.has(owned(member(made, group, 2)));
  };
  SECTION("on one node") {
    s.has(node("n").gpus(8));
    s.has(node("m").gpus(8).cordoned());
    runs_in("train", 0, "n");
    runs_in("train", 1, "m");
    s.runs("old", "n", kLow, 4);
    s.has(wants(4));
    CHECK(s.decide() == Texts{"p gets n without old"});
  }
  SECTION("on different nodes") {
    for (const char* name : {"a", "b"}) s.has(node(name).gpus(8));
    runs_in("train", 0, "a");
    runs_in("else", 0, "a");  // both have a pod on b
    runs_in("train", 1, "b");
    runs_in("else", 1, "b");
    s.has(node("c").gpus(8));
    s.runs("single-0", "c", kLow, 4);
    s.runs("single-1", "c", kLow, 4);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets c without single-0 single-1"});
  }
  SECTION("but not for others of higher priority") {
    for (const char* name : {"a", "b", "c"}) s.has(node(name).gpus(8));
    s.runs("single", "a", kLow + 1, 4);
    runs_in("train", 0, "a");
    runs_in("train", 1, "c");
    s.runs("stays", "c", kHigh, 4);
    for (int i = 0; i < 4; ++i) s.runs("low-" + std::to_string(i), "b", kLow + (i > 0 ? 1 : 0), 2);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets a without single train-0"});
  }
  SECTION("of a lower priority they go") {
    s.has(node("n").gpus(8));
    s.has(node("m").gpus(8).cordoned());
    runs_in("train", 0, "n");
    runs_in("train", 1, "m");
    s.runs("old", "n", kLow + 1, 4);
    s.has(wants(4));
    CHECK(s.decide() == Texts{"p gets n without train-0"});
  }
  SECTION("one that is left alone is as others") {
    s.has(node("n").gpus(8));
    runs_in("train", 0, "n");
    s.runs("old", "n", kLow, 4);
    s.has(wants(4));
    CHECK(s.decide() == Texts{"p gets n without train-0"});
  }
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
  // Attempts that fail are not made one after the other.
  for (int i = 0; i < 20; ++i) s.has(node("n0").gpus(8).labelled("x", std::to_string(i)));
  CHECK(s.decide() == Texts{});
  const auto wakeup = s.engine.next_wakeup();
  REQUIRE(wakeup);
  CHECK(*wakeup > s.now);
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

TEST_CASE("a group may need what several lines of its quota give together") {
  Groups s;
  s.has(h100("h"));
  s.has(l4("l"));
  s.has(gpu_quota("team").of("vision").line("H100", 8).line("L4", 4));
  const k8s::Pod other = in("vision", "other", 4).annotated(kType, "L4");
  s.has(other);
  REQUIRE(s.outcome().bound == 1);
  const auto comes = [&](int pods, int gpus) {
    for (int i = 0; i < pods; ++i) {
      PodBuilder made = in("vision", "train-" + std::to_string(i), gpus);
      s.has(member(made, "train", pods));
    }
    return s.outcome();
  };
  SECTION("it starts when they have room") {
    CHECK(comes(3, 4).told ==
          Texts{"quota team: H100 needs 4, 0 of 8 in use, or L4 needs 4, 4 of 4 in use, first in "
                "line; L4: 4 more must be freed | This is about pod train-2 of its group train. "
                "There is room for 2 of the 3 pods that start together as group train."});
    s.pod_gone(other);
    CHECK(s.outcome() == all_bound(3));
  }
  SECTION("not if that is too much for all of them") {
    CHECK(comes(4, 4).told.at(0).find("can never give") != std::string::npos);
  }
  SECTION("not if each of them is too small for the pods that it would get") {
    CHECK(comes(2, 5).told.at(0).find("can never give") != std::string::npos);
  }
  SECTION("not if that is so for the larger ones, though they have room for as many smaller ones") {
    PodBuilder small = in("vision", "train-2", 1);
    s.has(member(small, "train", 3));
    CHECK(comes(2, 5).told.at(0).find("can never give") != std::string::npos);
  }
}

TEST_CASE("a group that its Strict quota can never have does not keep the line waiting") {
  Groups s;
  s.has(h100("a"));
  s.has(gpu_quota("team").of("vision").strict().line(kH100, 8));
  // One more than start together changes nothing.
  for (int i = 0; i < GENERATE(3, 4); ++i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), i < 3 ? 4 : 5);
    s.has(member(made, "train", 3));
  }
  s.has(in("vision", "small", 1).created_at(kStart + 1s));
  CHECK(s.outcome().bound == 1);
  s.has(gpu_quota("team").of("vision").strict().line(kH100, 16).generation(2));
  s.has(h100("b"));
  CHECK(s.outcome().bound == 3);
}

TEST_CASE("a group with a pod that its quota can never take keeps nothing from others") {
  Groups s;
  for (const char* name : {"a", "b"}) s.has(h100(name));
  s.has(gpu_quota("team").of("vision").line(kH100, 16).most_per_pod(4));
  for (int i = 0; i < 4; ++i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), i == 2 ? 8 : 1);
    s.has(member(made, "train", 4));
  }
  CHECK(s.outcome() ==
        Groups::Outcome{0,
                        {"quota team: NVIDIA-H100-80GB-HBM3 needs 8, at most 4 a pod; it can never "
                         "give that much | This is about pod train-2 of its group train. There is "
                         "room for 3 of the 4 pods that start together as group train."}});
  s.now += 11min;
  static_cast<void>(s.decide());
  const std::vector<k8s::Pod> others{in("vision", "x", 4), in("vision", "y", 4)};
  for (const k8s::Pod& other : others) s.has(other);
  CHECK(s.outcome().bound == 2);
  for (const k8s::Pod& other : others) s.pod_gone(other);
  SECTION("it starts when the quota may take the pod") {
    s.has(gpu_quota("team").of("vision").line(kH100, 16).generation(2));
  }
  SECTION("it starts without the pod when there are enough others") {
    PodBuilder made = in("vision", "train-4", 1);
    s.has(member(made, "train", 4));
  }
  CHECK(s.outcome().bound == 4);
}

TEST_CASE("a group is told of the type of GPU for which its quota has no room") {
  Groups s;
  s.has(h100("a"));
  s.has(l4("b"));
  s.has(gpu_quota("team").of("vision").line("H100", 8).line("L4", 2));
  for (int i = 0; i < 3; ++i) {
    PodBuilder made = in("vision", "train-" + std::to_string(i), i == 0 ? 8 : 1);
    made.annotated(kType, i == 0 ? "H100" : "L4");
    s.has(member(made, "train", 3));
  }
  const k8s::Pod other = in("vision", "other", 1).annotated(kType, "L4").priority(10);
  s.has(other);
  CHECK(s.outcome() ==
        Groups::Outcome{1,
                        {"quota team: L4 needs 2, 1 of 2 in use, first in line; 1 more must be "
                         "freed | This is about pod train-2 of its group train. There is room for "
                         "2 of the 3 pods that start together as group train."}});
  s.pod_gone(other);
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
