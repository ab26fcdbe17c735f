#include "scheduler/engine/world/pods.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <memory>

using namespace sched;
using State = PodRecord::State;

namespace {

// Two nodes, and what is taken of their cpu.
struct Cluster {
  ResourceNames names;
  Nodes nodes;
  NodeSlot a = nodes.slot_of("a");
  NodeSlot b = nodes.slot_of("b");

  Cluster() {
    nodes.upsert(facts_of(tests::node("a"), names));
    nodes.upsert(facts_of(tests::node("b"), names));
  }
  std::int64_t taken(NodeSlot slot) const { return nodes.usage(slot).requested.get(kCpu); }
};

Claim cpu(std::int64_t milli) {
  Claim claim;
  claim.requests = {{kCpu, milli}};
  return claim;
}

}  // namespace

TEST_CASE("a pod goes from pending over assumed to bound, and its claim with it") {
  Cluster cluster;
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
  Cluster cluster;
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
