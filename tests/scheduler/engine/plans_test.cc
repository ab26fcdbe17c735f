// Plans: what is done before a bind, what is waited for, and how it is undone.
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <chrono>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

k8s::PersistentVolumeClaim claim_is(const std::string& phase, const std::string& name = "c") {
  k8s::PersistentVolumeClaim made;
  made.metadata.name = name;
  made.metadata.namespace_ = "default";
  made.phase = phase;
  return made;
}

// Two nodes of one GPU; a pod that takes one and needs the claim c, another without.
struct Planning : Scheduler {
  explicit Planning(EngineOptions options = {}) : Scheduler(std::move(options)) {
    has(node("a").gpus(1));
    has(node("b").gpus(1));
    has(claim_is("Pending"));
    synced();
  }
  // The pod prepares for node a.
  void begins() {
    has(pod);
    REQUIRE(decide() == Texts{"p prepares for a"});
  }
  k8s::Pod pod = our_pod("p").gpus(1).labelled("binds-claim", "c");
  k8s::Pod plain = our_pod("q").gpus(1);
};

}  // namespace

TEST_CASE("a bind waits for its writes, then for what they bring about") {
  Planning s;
  s.has(s.pod);
  const auto begun = s.decisions();
  REQUIRE(begun.size() == 1);
  CHECK(std::get<decision::Prepare>(begun[0]) ==
        decision::Prepare{
            .plan = 1,
            .pod = Scheduler::ref(s.pod),
            .scheduler_name = kOurs,
            .generation = 1,
            .node = "a",
            .writes = {SelectNode{.claim = {"default", "c", "uid of c", "1"}, .node = "a"}}});
  // Bound, but the write has not been answered.
  s.has(claim_is("Bound"));
  CHECK(s.decide().empty());
  s.has(claim_is("Pending"));
  s.prepared(1);
  CHECK(s.decide().empty());
  s.has(claim_is("Bound"));
  const auto bound = s.decisions();
  REQUIRE(bound.size() == 1);
  const auto& bind = std::get<decision::Bind>(bound[0]);
  CHECK(bind.pod == Scheduler::ref(s.pod));
  CHECK(bind.node == "a");
  CHECK(bind.feasible_nodes == 2);
  CHECK(bind.attempts == 1);
  CHECK_FALSE(s.engine.next_wakeup());
  // From here on it is as any bind.
  s.bind_failed(s.pod, "a");
  s.now += 10s;
  CHECK(s.decide() == Texts{"p → a"});
}

TEST_CASE("while a pod prepares its room is taken, and so is what it prepares") {
  Planning s;
  s.begins();
  s.has(s.plain);
  CHECK(s.decide() == Texts{"q → b"});
  s.has(our_pod("r").labelled("binds-claim", "c"));
  CHECK(s.decide() == Texts{"r waits: 0/2 nodes are available: claim c is another pod's."});
  CHECK(s.engine.pending() == PendingPods{.active = 0, .backoff = 0, .unschedulable = 1});
}

TEST_CASE("where everything is written it is only waited, and where it is done not even that") {
  Planning s;
  k8s::PersistentVolumeClaim written = claim_is("Pending");
  written.metadata.annotations = {{"selected", "a"}};
  s.has(written);
  s.has(s.pod);
  const auto begun = s.decisions();
  REQUIRE(begun.size() == 1);
  CHECK(std::get<decision::Prepare>(begun[0]).writes.empty());
  CHECK(s.engine.next_wakeup() == s.now + BindsClaim::kPatience);
  s.prepared(1);
  CHECK(s.decide().empty());
  written.phase = "Bound";
  s.has(written);
  CHECK(s.decide() == Texts{"p → a"});
  s.has(our_pod("r").labelled("binds-claim", "c"));
  CHECK(s.decide() == Texts{"r → b"});
}

TEST_CASE("what fails is undone and told, and the pod tried again after a back-off") {
  Planning s;
  s.begins();
  SECTION("a write") {
    s.prepared(1, "selecting node a for claim c failed: 409");
    CHECK(s.decide() == Texts{"p not to a: selecting node a for claim c failed: 409"});
  }
  SECTION("what it brings about") {
    s.prepared(1);
    s.has(claim_is("Lost"));
    CHECK(s.decide() == Texts{"p not to a: claim c is lost"});
  }
  SECTION("the node goes") {
    s.prepared(1);
    s.node_gone("a");
    CHECK(s.decide() == Texts{"p not to a: the node is gone"});
    s.has(node("a").gpus(1));
  }
  SECTION("the node takes no pods any more") {
    s.prepared(1);
    s.has(node("a").gpus(1).cordoned());
    CHECK(s.decide().empty());
    s.has(claim_is("Bound"));
    CHECK(s.decide() == Texts{"p not to a: the node has changed"});
    s.has(node("a").gpus(1));
  }
  SECTION("the node loses its GPUs") {
    s.prepared(1);
    s.has(node("a").gpus(0));
    s.has(claim_is("Bound"));
    CHECK(s.decide() == Texts{"p not to a: the node has changed"});
    s.has(node("a").gpus(1));
  }
  SECTION("it takes too long") {
    s.prepared(1);
    CHECK(s.engine.next_wakeup() == s.now + BindsClaim::kPatience);
    s.now += BindsClaim::kPatience - 1s;
    CHECK(s.decide().empty());
    s.now += 1s;
    CHECK(s.decide() == Texts{"p not to a: waited too long: claim c is not bound"});
  }
  SECTION("the write takes too long") {
    s.now += BindsClaim::kPatience;
    CHECK(s.decide() == Texts{"p not to a: waited too long: the API server has not taken what has "
                              "to be written"});
  }
  CHECK(s.engine.pending().backoff == 1);
  // Its room and its claim are free.
  s.has(claim_is("Pending"));
  s.has(s.plain);
  s.has(our_pod("r").labelled("binds-claim", "c"));
  CHECK(s.decide() == Texts{"q → a", "r prepares for b"});
  // Late answers change nothing.
  s.prepared(1);
  CHECK(s.decide().empty());
  s.pod_gone(our_pod("r"));
  s.now += 1s;
  CHECK(s.decide() == Texts{"p prepares for b"});
}

TEST_CASE("a pod that is ready waits for a device plugin that restarts") {
  Planning s;
  const auto offers = [&](int gpus) { s.has(node("a").gpus(gpus).product("NVIDIA-L4")); };
  offers(1);
  s.begins();
  s.prepared(1);
  offers(0);
  s.has(claim_is("Bound"));
  CHECK(s.decide().empty());
  SECTION("it is back soon") {
    offers(1);
    CHECK(s.decide() == Texts{"p → a"});
  }
  SECTION("the plan is over before that") {
    s.now += BindsClaim::kPatience;
    CHECK(s.decide() == Texts{"p not to a: waited too long: the node offers none of its GPUs at "
                              "the moment"});
  }
  SECTION("the node is cordoned") {
    s.has(node("a").gpus(0).product("NVIDIA-L4").cordoned());
    CHECK(s.decide() == Texts{"p not to a: the node has changed"});
  }
}

TEST_CASE("what is taken on a node meanwhile does not keep a pod from it that is ready") {
  Planning s;
  s.begins();
  s.prepared(1);
  s.has(their_pod("theirs").gpus(1).on("a"));
  s.has(claim_is("Bound"));
  CHECK(s.decide() == Texts{"p → a"});
}

TEST_CASE("a pod that is ready is not bound to a node that has lost the GPU that it was to get") {
  Planning s;
  s.node_gone("b");
  s.has(node("a").gpus(8));
  s.has(our_pod("runs").gpus(6).on("a"));
  s.begins();
  s.prepared(1);
  SECTION("too few are left") {
    s.has(node("a").gpus(6));
    s.has(claim_is("Bound"));
    CHECK(s.decide() == Texts{"p not to a: the node has changed"});
    s.has(node("a").gpus(7));
    s.now += 1s;
    CHECK(s.decide() == Texts{"p → a"});
  }
  SECTION("enough are left") {
    s.has(node("a").gpus(7));
    s.has(claim_is("Bound"));
    CHECK(s.decide() == Texts{"p → a"});
  }
}

TEST_CASE("each failure makes the back-off longer") {
  Planning s;
  s.begins();
  std::uint64_t plan = 0;
  for (const auto wait : {1s, 2s, 4s, 8s}) {
    s.prepared(++plan, "no");
    CHECK(s.decide() == Texts{"p not to a: no"});
    CHECK(s.engine.next_wakeup() == s.now + wait);
    s.now += wait;
    CHECK(s.decide() == Texts{"p prepares for a"});
  }
}

TEST_CASE("a pod that goes while it prepares leaves nothing behind") {
  Planning s;
  s.begins();
  SECTION("deleted") { s.pod_gone(s.pod); }
  SECTION("being deleted") {
    s.has(our_pod("p").gpus(1).labelled("binds-claim", "c").terminating());
  }
  SECTION("finished") { s.has(our_pod("p").gpus(1).labelled("binds-claim", "c").finished()); }
  SECTION("bound by somebody else, and gone") {
    s.has(our_pod("p").gpus(1).labelled("binds-claim", "c").on("b"));
    CHECK(s.decide().empty());
    s.pod_gone(s.pod);
  }
  s.prepared(1);
  s.has(claim_is("Bound"));
  CHECK(s.decide().empty());
  CHECK_FALSE(s.engine.next_wakeup());
  s.has(s.plain);
  CHECK(s.decide() == Texts{"q → a"});
}

TEST_CASE("a pod that changes while it prepares is bound where it was to go") {
  Planning s;
  s.begins();
  s.has(our_pod("p").gpus(1).labelled("binds-claim", "c").labelled("more", "of it"));
  s.prepared(1);
  s.has(claim_is("Bound"));
  CHECK(s.decide() == Texts{"p → a"});
}

TEST_CASE("of several plans each goes its own way, the earlier one first") {
  Planning s;
  s.has(claim_is("Pending", "d"));
  s.begins();
  const k8s::Pod other = our_pod("o").gpus(1).labelled("binds-claim", "d");
  s.has(other);
  CHECK(s.decide() == Texts{"o prepares for b"});
  s.has(claim_is("Bound", "d"));
  s.prepared(2);
  CHECK(s.decide() == Texts{"o → b"});
  s.pod_gone(other);
  s.has(claim_is("Pending", "e"));
  s.has(our_pod("n").gpus(1).labelled("binds-claim", "e"));
  CHECK(s.decide() == Texts{"n prepares for b"});
  s.has(claim_is("Bound", "e"));
  s.has(claim_is("Bound"));
  s.prepared(3);
  s.prepared(1);
  CHECK(s.decide() == Texts{"p → a", "n → b"});
}
