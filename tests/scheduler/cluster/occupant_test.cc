#include "scheduler/cluster/occupant.h"

#include "scheduler/base/text_hash.h"
#include "scheduler/cluster/node_room.h"
#include "scheduler/cluster/placement.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

using namespace sched;
using tests::pod;
using namespace std::chrono_literals;

namespace {

Claim claim_for_cpu(std::int64_t milli) {
  Claim made;
  made.requests = {{kCpu, milli}};
  return made;
}

}  // namespace

TEST_CASE("an occupant is what its pod says") {
  const k8s::Timestamp start(1'767'225'660s);
  k8s::Pod running = pod("a").priority(7).on("n").started_at(start).terminating();
  running.metadata.owner_references = {
      {.api_version = "v1", .kind = "Other", .name = "x", .uid = "x", .controller = false},
      {.api_version = "v1", .kind = "Job", .name = "y", .uid = "y", .controller = true}};
  const Occupant made = occupant_of(running, claim_for_cpu(100), {}, true);
  CHECK(made.claim == claim_for_cpu(100));
  CHECK(made.owner == text_hash("y"));
  CHECK((made.since == start));
  CHECK(made.priority == 7);
  CHECK((made.kind == Occupant::Kind::kPod));
  CHECK(made.terminating);
  CHECK(made.ours);
  CHECK_FALSE(made.chosen_here);
  CHECK(made.uid == nullptr);

  running.metadata.owner_references.pop_back();
  CHECK(occupant_of(running, {}, {}, true).owner == 0);

  const Occupant waiting = occupant_of(pod("b"), {}, {}, false);
  CHECK((waiting.since == Occupant::kNotStarted));
  CHECK_FALSE(waiting.terminating);
  CHECK_FALSE(waiting.ours);
  CHECK(waiting.chosen_here);
}

TEST_CASE("priority counts before age, and of one priority the older pod counts") {
  const auto occupant = [](std::int32_t priority, Time since) {
    Occupant made;
    made.priority = priority;
    made.since = since;
    return made;
  };
  const Occupant old = occupant(0, Time{1s});
  const Occupant young = occupant(0, Time{2s});
  const Occupant high = occupant(1, Time{3s});
  CHECK(more_important(high, old));
  CHECK_FALSE(more_important(old, high));
  CHECK(more_important(old, young));
  CHECK_FALSE(more_important(young, old));
  CHECK_FALSE(more_important(old, old));
}

TEST_CASE("rules across nodes count pods of one class alike, unless one is being deleted") {
  PodClasses classes;
  Occupant a;
  Occupant b;
  CHECK(counts_alike(a, b));
  a.pod_class = classes.intern(pod("a").labelled("app", "x"));
  CHECK_FALSE(counts_alike(a, b));
  b.pod_class = classes.intern(pod("b").labelled("app", "x"));
  b.priority = 3;
  CHECK(counts_alike(a, b));
  b.terminating = true;
  CHECK_FALSE(counts_alike(a, b));
  b.terminating = false;
  b.pod_class = classes.intern(pod("b").labelled("app", "y"));
  CHECK_FALSE(counts_alike(a, b));
}

TEST_CASE("a placement gives its room back when it ends") {
  ResourceNames names;
  Nodes nodes;
  CHECK(nodes.upsert(facts_of(tests::node("n").cpu("1"), names)));
  const NodeSlot slot = nodes.find("n");
  Occupant first;
  first.claim = claim_for_cpu(400);
  {
    Placement placement(nodes, slot, std::move(first));
    CHECK(nodes.view(slot).free(kCpu) == 600);
    Occupant to;
    to.claim = claim_for_cpu(700);
    placement.change(std::move(to));
    CHECK(nodes.view(slot).free(kCpu) == 300);
    CHECK(nodes.occupants(slot).size() == 1);
  }
  CHECK(nodes.view(slot).free(kCpu) == 1'000);
  CHECK(nodes.occupants(slot).empty());
}

TEST_CASE("a room holds what each of its amounts is enough for") {
  ResourceNames names;
  const NodeFacts facts = facts_of(
      tests::node("n").cpu("4").memory("8").offers("ephemeral-storage", "2").gpus(1), names);
  NodeUsage usage;
  usage.requested.set(kCpu, 1'000);
  usage.requested.set(kNvidiaGpu, 3);  // more than there are
  NodeRoom room;
  room.widen({facts, usage});
  for (std::size_t i = 0; i < NodeRoom::kCounted.size(); ++i) {
    INFO("resource " << i);
    const std::int64_t free =
        std::max<std::int64_t>(NodeView{facts, usage}.free(NodeRoom::kCounted[i]), 0);
    NodeRoom least;
    CHECK(room.holds(least));
    least.needs(i, free);
    CHECK(room.holds(least));
    least.needs(i, free + 1);
    CHECK_FALSE(room.holds(least));
    least.needs(i, 0);  // it only grows
    CHECK_FALSE(room.holds(least));
  }
  // Of several nodes each amount is that of the one with most of it.
  const NodeFacts other = facts_of(tests::node("m").cpu("2").memory("16").gpus(2), names);
  room.widen({other, {}});
  NodeRoom least;
  least.needs(0, 3'000);
  least.needs(1, 16);
  least.needs(2, 2);
  least.needs(3, 2);
  CHECK(room.holds(least));
  CHECK(room == least);
}
