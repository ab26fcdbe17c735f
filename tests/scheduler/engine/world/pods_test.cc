#include "scheduler/engine/world/pods.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using State = PodRecord::State;

namespace {

// Two nodes, and what is taken of their cpu.
struct TwoNodes {
  ResourceNames names;
  Nodes nodes;
  NodeSlot a = nodes.slot_of("a");
  NodeSlot b = nodes.slot_of("b");

  TwoNodes() {
    nodes.upsert(facts_of(tests::node("a"), names));
    nodes.upsert(facts_of(tests::node("b"), names));
  }
  std::int64_t taken(NodeSlot slot) const { return nodes.usage(slot).requested.get(kCpu); }
};

Occupant cpu(std::int64_t milli) {
  Occupant occupant;
  occupant.claim.requests = {{kCpu, milli}};
  return occupant;
}

// There are a hundred thousand bound pods: who they are takes few bytes beside what they take.
static_assert(sizeof(Occupant) <= sizeof(Claim) + 48);

}  // namespace

TEST_CASE("a pod goes from pending over assumed to bound, and its claim with it") {
  TwoNodes cluster;
  Pods pods;
  PodRecord& record = pods.at("uid");
  record.wait(std::make_unique<WaitingPod>());
  CHECK(record.state() == State::kPending);
  CHECK(cluster.taken(cluster.a) == 0);

  record.assume(cluster.nodes, cluster.a, cpu(100));
  CHECK(record.state() == State::kAssumed);
  CHECK(cluster.taken(cluster.a) == 100);

  SECTION("the server takes the bind, then the watch shows it") {
    record.confirm();
    CHECK(record.state() == State::kBound);
    const auto seen = cluster.nodes.changes().end();
    record.bind(cluster.nodes, cluster.a, cpu(100));
    CHECK(cluster.nodes.changes().end() == seen);  // nothing that was not known
    CHECK(cluster.taken(cluster.a) == 100);
  }
  SECTION("the watch is first") {
    record.bind(cluster.nodes, cluster.a, cpu(100));
    CHECK(record.state() == State::kBound);
    CHECK(cluster.taken(cluster.a) == 100);
  }
  SECTION("it turns out to be elsewhere") {
    record.bind(cluster.nodes, cluster.b, cpu(100));
    CHECK(record.state() == State::kBound);
    CHECK(cluster.taken(cluster.a) == 0);
    CHECK(cluster.taken(cluster.b) == 100);
  }
  SECTION("the bind fails") {
    record.forget();
    CHECK(record.state() == State::kPending);
    CHECK(cluster.taken(cluster.a) == 0);
    CHECK(cluster.nodes.usage(cluster.a) == NodeUsage{});
  }
  SECTION("it is gone") {
    pods.erase("uid");
    CHECK(pods.find("uid") == nullptr);
    CHECK(cluster.nodes.usage(cluster.a) == NodeUsage{});
  }
}

TEST_CASE("a bound pod that is resized in place changes its node, and only then") {
  TwoNodes cluster;
  Pods pods;
  PodRecord& record = pods.at("uid");
  record.bind(cluster.nodes, cluster.a, cpu(100));
  auto seen = cluster.nodes.changes().end();
  record.bind(cluster.nodes, cluster.a, cpu(100));
  CHECK(cluster.nodes.changes().end() == seen);
  record.bind(cluster.nodes, cluster.a, cpu(700));
  CHECK(cluster.nodes.changes().end() > seen);
  CHECK(cluster.taken(cluster.a) == 700);
}

TEST_CASE("what a pod takes on its node has the pod's name, whatever state it is in") {
  TwoNodes cluster;
  Pods pods;
  pods.at("first").bind(cluster.nodes, cluster.a, cpu(100));
  PodRecord& second = pods.at("second");
  second.wait(std::make_unique<WaitingPod>());
  second.assume(cluster.nodes, cluster.a, cpu(200));
  const auto on_a = [&] {
    std::vector<std::string> uids;
    for (const Occupant* each : cluster.nodes.occupants(cluster.a)) uids.push_back(*each->uid);
    return uids;
  };
  CHECK(on_a() == std::vector<std::string>{"first", "second"});
  for (int i = 0; i < 1'000; ++i) pods.at("other " + std::to_string(i));  // records stay in place
  Occupant now = cpu(200);
  now.priority = 10;
  second.bind(cluster.nodes, cluster.a, std::move(now));
  CHECK(on_a() == std::vector<std::string>{"second", "first"});
  pods.erase("first");
  CHECK(on_a() == std::vector<std::string>{"second"});
}

TEST_CASE("an occupant is what its pod says") {
  ResourceNames names;
  k8s::Pod pod = tests::pod("a").gpus(2).priority(7);
  const Claim claim = claim_of_bound(pod, names);
  const Occupant waiting = occupant_of(pod, claim, {}, true);
  CHECK(waiting.claim == claim);
  CHECK(waiting.owner == 0);
  CHECK(waiting.since == Occupant::kNotStarted);
  CHECK(waiting.priority == 7);
  CHECK(waiting.kind == Occupant::Kind::kPod);
  CHECK_FALSE(waiting.terminating);
  CHECK(waiting.ours);

  const Time start{std::chrono::seconds(1'000'000)};
  pod.status.start_time = start;
  pod.metadata.deletion_timestamp = start;
  k8s::OwnerReference other;
  other.uid = "not its controller";
  k8s::OwnerReference job;
  job.uid = "job";
  job.controller = true;
  pod.metadata.owner_references = {other, job};
  const Occupant running = occupant_of(pod, claim, {}, false);
  CHECK(running.since == start);
  CHECK(running.terminating);
  CHECK_FALSE(running.ours);
  CHECK(running.owner != 0);
  k8s::Pod sibling = pod;
  sibling.metadata.owner_references = {job};
  CHECK(occupant_of(sibling, claim, {}, false).owner == running.owner);
  sibling.metadata.owner_references.back().uid = "another job";
  CHECK(occupant_of(sibling, claim, {}, false).owner != running.owner);
}
