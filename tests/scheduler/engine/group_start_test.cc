// Groups of which some pods have to be prepared: all are bound together, or none is.
#include "tests/scheduler/engine/grouped_pods.h"
#include "tests/scheduler/engine/preempting.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <variant>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

// Three nodes, and three pods that fill them: train-0 needs nothing but its node (its plan is 3),
// train-1 the claim c1 (its plan is 1), train-2 the claim c2 (2).
struct Starting : Groups {
  Starting() {
    has_nodes(3);
    is("c1", "Pending");
    is("c2", "Pending");
  }
  void is(const std::string& name, const std::string& phase) {
    k8s::PersistentVolumeClaim made = claim(name, "");
    made.phase = phase;
    has(made);
  }
  static k8s::Pod pod(int i) {
    PodBuilder made = of("train", 3, i);
    return i == 0 ? made : made.labelled("binds-claim", "c" + std::to_string(i));
  }
  void has_all() {
    for (int i = 0; i < 3; ++i) has(pod(i));
  }
  void begins() {
    has_all();
    REQUIRE(decide() == kAllPrepare);
  }
  void all_prepared(std::uint64_t first = 1) {
    for (std::uint64_t plan = first; plan < first + 3; ++plan) prepared(plan);
  }
  void all_bound() {
    is("c1", "Bound");
    is("c2", "Bound");
  }
  inline static const Texts kAllPrepare{"train-0 prepares for n0", "train-1 prepares for n1",
                                        "train-2 prepares for n2"};
  inline static const Texts kAllStart{"train-1 → n1", "train-2 → n2", "train-0 → n0"};
};

}  // namespace

TEST_CASE("no pod of a group is bound before all of them are ready") {
  Starting s;
  s.begins();
  s.all_prepared();
  CHECK(s.decide().empty());
  s.is("c2", "Bound");
  CHECK(s.decide().empty());
  // What becomes unready meanwhile counts.
  s.is("c2", "Pending");
  s.is("c1", "Bound");
  CHECK(s.decide().empty());
  s.is("c2", "Bound");
  CHECK(s.decide() == Starting::kAllStart);
  CHECK_FALSE(s.engine.next_wakeup());
  // From here on each pod is by itself.
  s.bind_failed(Starting::pod(1), "n1");
  s.now += 10s;
  CHECK(s.decide() == Texts{"train-1 → n1"});
}

TEST_CASE("a group with nothing to prepare is bound at once") {
  Starting s;
  s.all_bound();
  s.has_all();
  CHECK(s.outcome() == all_bound(3));
}

TEST_CASE("if one pod of a group cannot be prepared, none is bound, and all wait together") {
  Starting s;
  s.begins();
  s.prepared(2);
  s.prepared(3);
  s.is("c2", "Bound");
  CHECK(s.decide().empty());
  std::string why;
  SECTION("a write fails") {
    why = "selecting node n1 for claim c1 failed: 409";
    s.prepared(1, why);
  }
  SECTION("a claim is lost") {
    why = "claim c1 is lost";
    s.prepared(1);
    s.is("c1", "Lost");
  }
  SECTION("it takes too long") {
    why = "waited too long: claim c1 is not bound";
    s.prepared(1);
    CHECK(s.engine.next_wakeup() == s.now + BindsClaim::kPatience);
    s.now += BindsClaim::kPatience;
  }
  SECTION("its node takes no pods any more") {
    why = "the node has changed";
    s.prepared(1);
    s.has(node("n1").gpus(8).cordoned());
    CHECK(s.decide().empty());
    s.is("c1", "Bound");
  }
  const std::string others = "pod train-1 of its group: " + why;
  // The last that was begun is undone first.
  CHECK(s.decide() == Texts{"train-0 not to n0: " + others, "train-2 not to n2: " + others,
                            "train-1 not to n1: " + why});
  CHECK(s.engine.pending().backoff == 3);
  s.has(node("n1").gpus(8));
  // Their nodes are free, and so are their claims.
  s.has(our_pod("x").gpus(8).labelled("binds-claim", "c1"));
  s.is("c1", "Bound");
  CHECK(s.decide() == Texts{"x → n0"});
  s.now += 1s;
  CHECK(s.decide().size() == 3);  // that there is too little room
  CHECK(s.engine.pending().unschedulable == 3);
  s.pod_gone(our_pod("x").gpus(8).labelled("binds-claim", "c1"));
  s.is("c1", "Pending");
  CHECK(s.decide() == Starting::kAllPrepare);
}

TEST_CASE("no pod of a group is bound if a node does not take its pod when all are ready") {
  Starting s;
  s.begins();
  s.all_prepared();
  s.is("c1", "Bound");
  CHECK(s.decide().empty());
  const int which = GENERATE(0, 1, 2);
  const std::string node_of = "n" + std::to_string(which);
  s.has(node(node_of).gpus(8).cordoned());
  s.is("c2", "Bound");
  const Texts told = s.decide();
  CHECK(told.size() == 3);
  const std::string why = "train-" + std::to_string(which) + " not to " + node_of;
  CHECK(std::find(told.begin(), told.end(), why + ": the node has changed") != told.end());
  for (const std::string& each : told) CHECK(each.find("→") == std::string::npos);
}

TEST_CASE("a pod that comes while its group is starting is bound with it, and does not delay it") {
  Starting s;
  s.has_nodes(1);
  s.is("c3", "Pending");
  s.begins();
  s.all_prepared();
  s.has(Starting::pod(3));
  CHECK(s.decide() == Texts{"train-3 prepares for n3"});
  s.prepared(4);
  SECTION("it is ready before them") {
    s.is("c3", "Bound");
    CHECK(s.decide().empty());
    s.is("c1", "Bound");
    s.now += BindsClaim::kPatience - 1s;
    CHECK(s.decide().empty());
    s.is("c2", "Bound");
    CHECK(s.decide() == Texts{"train-1 → n1", "train-2 → n2", "train-0 → n0", "train-3 → n3"});
  }
  SECTION("it is ready after them") {
    s.all_bound();
    CHECK(s.decide() == Starting::kAllStart);
    s.is("c3", "Bound");
    CHECK(s.decide() == Texts{"train-3 → n3"});
  }
}

TEST_CASE("pods that are ready are not looked at for ever, however long the others take") {
  Starting s;
  s.has_nodes(1);
  s.is("c3", "Pending");
  s.begins();
  s.is("c2", "Bound");
  s.all_prepared();
  s.now += BindsClaim::kPatience - 1s;
  s.has(Starting::pod(3));
  CHECK(s.decide() == Texts{"train-3 prepares for n3"});
  // The one that follows takes the place of the one that fails, and has longer.
  s.now += 1s;
  CHECK(s.decide() == Texts{"train-1 not to n1: waited too long: claim c1 is not bound"});
  s.now += 30s;
  s.pod_gone(Starting::pod(1));
  CHECK(s.decide().empty());
  REQUIRE(s.engine.next_wakeup());
  CHECK(*s.engine.next_wakeup() > s.now);
  s.prepared(4);
  s.is("c3", "Bound");
  CHECK(s.decide() == Texts{"train-2 → n2", "train-0 → n0", "train-3 → n3"});
}

TEST_CASE("pods that fail in turn hold the others for no longer than each once") {
  Starting s;
  s.has_nodes(2);
  s.is("c3", "Pending");
  s.begins();
  s.is("c2", "Bound");
  s.all_prepared();
  s.now += 30s;
  s.has(Starting::pod(3));
  CHECK(s.decide() == Texts{"train-3 prepares for n3"});
  s.prepared(4);
  s.now += 30s;  // one of the three fails; the next one takes its place
  CHECK(s.decide() == Texts{"train-1 not to n1: waited too long: claim c1 is not bound"});
  s.now += 2s;
  CHECK(s.decide() == Texts{"train-1 prepares for n1"});
  s.prepared(5);
  CHECK(s.decide().empty());
  s.now += 28s;
  const std::string why = "waited too long: claim c3 is not bound";
  const std::string others = "pod train-3 of its group: " + why;
  CHECK(s.decide() == Texts{"train-1 not to n1: " + others, "train-3 not to n3: " + why,
                            "train-0 not to n0: " + others, "train-2 not to n2: " + others});
}

TEST_CASE("if a pod goes while its group is starting, the others start if they are enough") {
  Starting s;
  s.has_nodes(1);
  s.begins();
  s.all_prepared();
  SECTION("too few are left") {
    SECTION("deleted") { s.pod_gone(Starting::pod(1)); }
    SECTION("being deleted") {
      k8s::Pod gone = Starting::pod(1);
      gone.metadata.deletion_timestamp = s.now;
      s.has(gone);
    }
    const std::string why = "fewer pods of its group are left than start together";
    CHECK(s.decide() == Texts{"train-0 not to n0: " + why, "train-2 not to n2: " + why});
    s.now += 3s;
    CHECK(s.decide().empty());
    s.now += 1s;
    CHECK(s.outcome() ==
          Groups::Outcome{0, {"2 of the 3 pods that start together as group train are there"}});
    s.has(Starting::pod(1));
    CHECK(s.decide().size() == 3);
  }
  SECTION("another one has come") {
    s.has(of("train", 3, 3));
    CHECK(s.decide() == Texts{"train-3 prepares for n3"});
    s.prepared(4);
    s.is("c2", "Bound");
    CHECK(s.decide().empty());
    s.pod_gone(Starting::pod(1));
    CHECK(s.decide() == Texts{"train-2 → n2", "train-0 → n0", "train-3 → n3"});
  }
  SECTION("all of them") {
    for (int i = 0; i < 3; ++i) s.pod_gone(Starting::pod(i));
    CHECK(s.decide().empty());
    CHECK_FALSE(s.engine.next_wakeup());
    s.has_all();
    CHECK(s.decide() == Starting::kAllPrepare);
  }
}

TEST_CASE("a pod that has failed is not bound alone when the others go") {
  Starting s;
  const auto pair = [](int i) {
    return k8s::Pod(of("pair", 2, i).labelled("binds-claim", i == 2 ? "c2" : "c1"));
  };
  s.has(pair(0));
  s.has(of("pair", 2, 1));
  REQUIRE(s.decide().size() == 2);
  s.has(pair(2));
  REQUIRE(s.decide() == Texts{"pair-2 prepares for n2"});
  s.prepared(3, "no");
  REQUIRE(s.decide() == Texts{"pair-2 not to n2: no"});
  s.now += 1s;
  REQUIRE(s.decide() == Texts{"pair-2 prepares for n2"});
  s.prepared(4);
  s.pod_gone(pair(0));
  s.pod_gone(of("pair", 2, 1));
  s.is("c2", "Bound");
  CHECK(s.decide() ==
        Texts{"pair-2 not to n2: fewer pods of its group are left than start together"});
}

TEST_CASE("a pod that another scheduler binds while its group is starting counts as one of it") {
  Starting s;
  s.begins();
  s.all_prepared();
  k8s::Pod bound = Starting::pod(1);
  bound.spec.node_name = "n1";
  s.has(bound);
  CHECK(s.decide().empty());
  s.is("c2", "Bound");
  CHECK(s.decide() == Texts{"train-2 → n2", "train-0 → n0"});
}

TEST_CASE("a pod that came while its group was starting waits with it if the start is given up") {
  Starting s;
  s.begins();
  s.all_prepared();
  const bool finds_room = GENERATE(true, false);
  if (finds_room) s.has_nodes(1);
  s.has(of("train", 4, 3));
  CHECK(s.decide() ==
        Texts{finds_room
                  ? "train-3 prepares for n3"
                  : "train-3 waits: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu."});
  s.is("c1", "Lost");
  s.pod_gone(Starting::pod(0));
  s.now += 1s;
  for (const std::string& told : s.decide()) CHECK(told.find("→") == std::string::npos);
  // Room for that pod alone, and too little for its group, which starts with four now.
  s.is("c1", "Pending");
  s.now += 10s;
  for (const std::string& told : s.decide()) {
    CHECK(told.find("3 of the 4 pods that start together as group train are there") !=
          std::string::npos);
  }
  s.has_nodes(finds_room ? 0 : 1);
  s.has(of("train", 4, 4));
  CHECK(s.decide() == Texts{"train-1 prepares for n0", "train-2 prepares for n1",
                            "train-3 prepares for n2", "train-4 prepares for n3"});
}

TEST_CASE("a pod beyond those that start together fails alone") {
  Starting s;
  s.has_nodes(1);
  s.is("c3", "Pending");
  s.begins();
  s.has(Starting::pod(3));
  CHECK(s.decide() == Texts{"train-3 prepares for n3"});
  s.all_prepared();
  s.prepared(4, "no");
  CHECK(s.decide() == Texts{"train-3 not to n3: no"});
  s.all_bound();
  CHECK(s.decide() == Starting::kAllStart);
  s.now += 1s;
  CHECK(s.decide() == Texts{"train-3 prepares for n3"});
}

TEST_CASE("what is decided for a group does not depend on what happens between its binds") {
  Starting s;
  s.begins();
  s.all_prepared();
  s.all_bound();
  const auto first = s.engine.step(s.now);
  REQUIRE(first);
  CHECK(std::get<decision::Bind>(*first).pod.name == "train-1");
  s.is("c2", "Lost");
  SECTION("all are bound") { CHECK(s.decide() == Texts{"train-2 → n2", "train-0 → n0"}); }
  SECTION("but those that are gone") {
    s.pod_gone(Starting::pod(2));
    CHECK(s.decide() == Texts{"train-0 → n0"});
  }
}

TEST_CASE("a pod evicts none while its group is starting, and may when that is over") {
  Preempting s;
  s.has(node("n0").gpus(8));
  s.has(node("n1").gpus(8));
  s.runs("low", "n1", kLow, 8);
  k8s::PersistentVolumeClaim wanted = claim("c", "");
  s.has(wanted);
  const auto train = [](int i, int gpus) {
    PodBuilder made = our_pod("train-" + std::to_string(i)).gpus(gpus).priority(kHigh);
    return member(made, "train", 2);
  };
  s.has(train(0, 4));
  s.has(train(1, 4).labelled("binds-claim", "c"));
  REQUIRE(s.decide() == Texts{"train-0 prepares for n0", "train-1 prepares for n0"});
  s.has(train(2, 8));
  CHECK(s.decide() ==
        Texts{"train-2 waits: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu."});
  s.prepared(1);
  s.prepared(2);
  wanted.phase = "Bound";
  s.has(wanted);
  CHECK(s.decide() == Texts{"train-1 → n0", "train-0 → n0", "train-2 gets n1 without low"});
}

TEST_CASE("a node for which a volume cannot be made is left out for the pod of a group, too") {
  Groups s({"VolumeBinding"});
  s.has_nodes(3);
  k8s::StorageClass made;
  made.metadata.name = "made";
  made.provisioner = "p";
  made.binding_mode = "WaitForFirstConsumer";
  s.apply(event::Upserted<k8s::StorageClass>{made});
  k8s::PersistentVolumeClaim wanted = claim("c", "");
  wanted.storage_class = "made";
  wanted.metadata.resource_version = "1";
  s.Scheduler::has(wanted);
  s.has(of("train", 2, 0).mounts_claim("c"));
  s.has(of("train", 2, 1));
  std::uint64_t plan = 0;
  for (const char* const version : {"2", "3"}) {
    REQUIRE(s.decide() == Texts{"train-0 prepares for n0", "train-1 prepares for n1"});
    s.prepared(++plan);
    s.prepared(++plan);
    wanted.metadata.resource_version = version;
    s.Scheduler::has(wanted);
    REQUIRE(s.decide().size() == 2);
    s.now += 10s;
  }
  CHECK(s.decide() == Texts{"train-0 prepares for n1", "train-1 prepares for n0"});
}

TEST_CASE("two groups of one profile start each by itself") {
  Starting s;
  s.has_nodes(1);
  s.begins();
  s.has_pods("other", 1, 1);
  CHECK(s.outcome() == all_bound(1));
}
