#include "scheduler/cluster/nodes.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

using namespace sched;
using tests::node;

namespace {

Claim claim(std::int64_t cpu, std::int64_t gpus = 0) {
  Claim made;
  if (cpu > 0) made.requests.push_back({kCpu, cpu});
  if (gpus > 0) made.requests.push_back({kNvidiaGpu, gpus});
  made.nonzero = {cpu, 1};
  return made;
}

struct Cluster {
  ResourceNames names;
  Nodes nodes;
  bool upsert(const k8s::Node& object) { return nodes.upsert(facts_of(object, names)); }
};

}  // namespace

TEST_CASE("only news about a node is written to the change log") {
  Cluster cluster;
  CHECK(cluster.upsert(node("a").gpus(8)));
  auto seen = cluster.nodes.changes().end();

  CHECK_FALSE(cluster.upsert(node("a").gpus(8)));
  CHECK_FALSE(cluster.upsert(node("a").gpus(8).condition("DiskPressure", "False")));
  cluster.nodes.erase("unknown");
  CHECK(cluster.nodes.changes().end() == seen);

  CHECK(cluster.upsert(node("a").gpus(7)));
  CHECK(cluster.nodes.changes().end() > seen);
  seen = cluster.nodes.changes().end();
  cluster.nodes.erase("a");
  CHECK(cluster.nodes.changes().end() > seen);
  CHECK(cluster.nodes.size() == 0);
}

TEST_CASE("claims on a node that is not known yet count when it appears, and survive its going") {
  Cluster cluster;
  const Claim held = claim(500, 2);
  const NodeSlot slot = cluster.nodes.slot_of("late");
  cluster.nodes.add(slot, held);
  CHECK(cluster.nodes.size() == 0);
  CHECK(cluster.nodes.changes().end() == 0);

  cluster.upsert(node("late").gpus(8));
  CHECK(cluster.nodes.slot_of("late") == slot);
  CHECK(cluster.nodes.view(slot).free(kNvidiaGpu) == 6);
  CHECK(cluster.nodes.view(slot).requested(kPods) == 1);

  cluster.nodes.erase("late");
  cluster.upsert(node("late").gpus(4));
  CHECK(cluster.nodes.view(slot).free(kNvidiaGpu) == 2);

  cluster.nodes.erase("late");
  cluster.nodes.remove(slot, held);
  CHECK(cluster.nodes.find("late") == kNoSlot);
  CHECK(cluster.nodes.slot_of("another") == slot);  // given to the next node
  CHECK(cluster.nodes.usage(slot) == NodeUsage{});
}

TEST_CASE("what is added and taken back leaves the usage as it was") {
  Cluster cluster;
  cluster.upsert(node("a").gpus(8));
  const NodeSlot slot = cluster.nodes.find("a");
  Claim ports = claim(100);
  ports.host_ports = {{"0.0.0.0", "TCP", 80}, {"0.0.0.0", "TCP", 443}};
  const Claim other = claim(300, 1);
  cluster.nodes.add(slot, other);
  const NodeUsage before = cluster.nodes.usage(slot);
  cluster.nodes.add(slot, ports);
  CHECK(cluster.nodes.usage(slot).host_ports.size() == 2);
  CHECK(cluster.nodes.usage_without(slot, ports) == before);
  cluster.nodes.remove(slot, ports);
  CHECK(cluster.nodes.usage(slot) == before);
}

TEST_CASE("a node knows how many pods of each size of GPU it holds") {
  using gpu::SizeClass;
  Cluster cluster;
  cluster.upsert(node("a").gpus(8));
  const NodeSlot slot = cluster.nodes.find("a");
  const auto claim_of_pod = [&](const tests::PodBuilder& given) {
    return claim_of_bound(given, cluster.names);
  };
  const Claim one = claim_of_pod(tests::pod("one").gpus(1));
  const Claim two = claim_of(shape_of(tests::pod("two").gpus(2), cluster.names));
  const Claim share = claim_of_pod(tests::pod("share").requests(gpu::kMilliResource, "300"));
  const Claim none = claim_of_pod(tests::pod("none").cpu("1"));
  for (const Claim* held : {&one, &two, &share, &none}) cluster.nodes.add(slot, *held);
  CHECK(cluster.nodes.usage(slot).gpu_pods == gpu::SizeClassCounts{1, 1, 1, 0, 0});
  CHECK(cluster.nodes.usage_without(slot, two).gpu_pods == gpu::SizeClassCounts{1, 1, 0, 0, 0});
  for (const Claim* held : {&one, &share, &none}) cluster.nodes.remove(slot, *held);
  CHECK(cluster.nodes.usage(slot).gpu_pods == gpu::SizeClassCounts{0, 0, 1, 0, 0});
}

TEST_CASE("sums beyond int64 are taken back exactly") {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  Cluster cluster;
  cluster.upsert(node("a"));
  const NodeSlot slot = cluster.nodes.find("a");
  const Claim small = claim(250);
  const Claim huge = claim(kHuge);
  Claim huge_too = claim(kHuge);
  cluster.nodes.add(slot, small);
  cluster.nodes.add(slot, huge);
  cluster.nodes.add(slot, huge_too);
  CHECK(cluster.nodes.usage(slot).requested.get(kCpu) == kHuge);
  cluster.nodes.remove(slot, huge);
  CHECK(cluster.nodes.usage(slot).requested.get(kCpu) == kHuge);
  cluster.nodes.change(slot, huge_too, claim(1000));
  CHECK(cluster.nodes.usage(slot).requested.get(kCpu) == 1250);
  CHECK(cluster.nodes.usage(slot).nonzero == NonZeroRequests{1250, 2});
}

TEST_CASE("only what gives something back is an opening") {
  Cluster cluster;
  cluster.upsert(node("a"));
  const NodeSlot slot = cluster.nodes.find("a");
  const Claim taken = claim(100);
  auto openings = cluster.nodes.openings();
  cluster.nodes.add(slot, taken);
  CHECK(cluster.nodes.openings() == openings);
  cluster.nodes.remove(slot, taken);
  CHECK(cluster.nodes.openings() > openings);
  openings = cluster.nodes.openings();
  cluster.upsert(node("a").labelled("zone", "z1"));
  CHECK(cluster.nodes.openings() > openings);
}

TEST_CASE("ranks follow names, however the nodes come and go") {
  std::mt19937 random(11);
  Cluster cluster;
  // Always between the first and the second: forces ranks to be dealt anew.
  std::string name = "n";
  cluster.upsert(node("m"));
  for (int i = 0; i < 200; ++i) {
    name = "n" + std::string(static_cast<std::size_t>(200 - i), 'a');
    cluster.upsert(node(name));
    if (random() % 4 == 0) cluster.nodes.erase(name);
    std::uint64_t last = 0;
    for (const auto& [known, slot] : cluster.nodes.by_name()) {
      REQUIRE(cluster.nodes.name(slot) == known);
      REQUIRE(cluster.nodes.rank(slot) > last);
      last = cluster.nodes.rank(slot);
    }
  }
}
