#include "scheduler/cluster/nodes.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using tests::node;

namespace {

Occupant occupant(Claim claim) {
  Occupant made;
  made.claim = std::move(claim);
  return made;
}

Occupant occupant(std::int64_t cpu, std::int64_t gpus = 0) {
  Claim claim;
  if (cpu > 0) claim.requests.push_back({kCpu, cpu});
  if (gpus > 0) claim.requests.push_back({kNvidiaGpu, gpus});
  claim.nonzero = {cpu, 1};
  return occupant(std::move(claim));
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

TEST_CASE("a node that goes is another state of the cluster, and its place is given to the next") {
  Cluster cluster;
  cluster.upsert(node("a").gpus(8));
  const NodeSlot slot = cluster.nodes.find("a");
  const std::uint64_t facts = cluster.nodes.facts_version();
  cluster.nodes.erase("a");
  CHECK(cluster.nodes.facts_version() > facts);
  CHECK(cluster.nodes.find("a") == kNoSlot);
  cluster.upsert(node("b").gpus(8));
  CHECK(cluster.nodes.find("b") == slot);
}

TEST_CASE("claims on a node that is not known yet count when it appears, and survive its going") {
  Cluster cluster;
  const Occupant held = occupant(500, 2);
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
  Occupant ports = occupant(100);
  ports.claim.host_ports = {{"0.0.0.0", "TCP", 80}, {"0.0.0.0", "TCP", 443}};
  const Occupant other = occupant(300, 1);
  cluster.nodes.add(slot, other);
  const NodeUsage before = cluster.nodes.usage(slot);
  cluster.nodes.add(slot, ports);
  CHECK(cluster.nodes.usage(slot).host_ports.size() == 2);
  cluster.nodes.remove(slot, ports);
  CHECK(cluster.nodes.usage(slot) == before);
}

TEST_CASE("a node knows how many pods of each size of GPU it holds") {
  using gpu::SizeClass;
  Cluster cluster;
  cluster.upsert(node("a").gpus(8));
  const NodeSlot slot = cluster.nodes.find("a");
  const auto of_pod = [&](const tests::PodBuilder& given) {
    return occupant(claim_of_bound(given, cluster.names));
  };
  const Occupant one = of_pod(tests::pod("one").gpus(1));
  const Occupant two = occupant(claim_of(shape_of(tests::pod("two").gpus(2), cluster.names)));
  const Occupant share = of_pod(tests::pod("share").requests(gpu::kMilliResource, "300"));
  const Occupant none = of_pod(tests::pod("none").cpu("1"));
  for (const Occupant* held : {&one, &two, &share, &none}) cluster.nodes.add(slot, *held);
  CHECK(cluster.nodes.usage(slot).gpu_pods == gpu::SizeClassCounts{1, 1, 1, 0, 0});
  for (const Occupant* held : {&one, &share, &none}) cluster.nodes.remove(slot, *held);
  CHECK(cluster.nodes.usage(slot).gpu_pods == gpu::SizeClassCounts{0, 0, 1, 0, 0});
}

TEST_CASE("sums beyond int64 are taken back exactly") {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  Cluster cluster;
  cluster.upsert(node("a"));
  const NodeSlot slot = cluster.nodes.find("a");
  const Occupant small = occupant(250);
  const Occupant huge = occupant(kHuge);
  Occupant huge_too = occupant(kHuge);
  cluster.nodes.add(slot, small);
  cluster.nodes.add(slot, huge);
  cluster.nodes.add(slot, huge_too);
  CHECK(cluster.nodes.usage(slot).requested.get(kCpu) == kHuge);
  cluster.nodes.remove(slot, huge);
  CHECK(cluster.nodes.usage(slot).requested.get(kCpu) == kHuge);
  cluster.nodes.change(slot, huge_too, occupant(1000));
  CHECK(cluster.nodes.usage(slot).requested.get(kCpu) == 1250);
  CHECK(cluster.nodes.usage(slot).nonzero == NonZeroRequests{1250, 2});
}

TEST_CASE("whichever of a node's sums is beyond int64, it is taken back exactly") {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  const auto claim = [](std::vector<ResourceAmount> requests, NonZeroRequests nonzero) {
    Claim made;
    made.requests = std::move(requests);
    made.nonzero = nonzero;
    return made;
  };
  struct Case {
    const char* name;
    Claim huge;
  };
  const Case cases[] = {
      {"what is requested", claim({{kCpu, 1}, {kMemory, kHuge}}, {1, 1})},
      {"CPU, where none is requested", claim({}, {kHuge, 1})},
      {"memory, where none is requested", claim({}, {1, kHuge})},
      {"memory of GPUs",
       {.requests = {},
        .nonzero = {},
        .host_ports = {},
        .devices = {},
        .gpu_size = {},
        .gpu_memory = kHuge}},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    Cluster cluster;
    cluster.upsert(node("a"));
    const NodeSlot slot = cluster.nodes.find("a");
    const Occupant small = occupant(claim({{kCpu, 250}, {kMemory, 7}}, {250, 7}));
    const Occupant one = occupant(each.huge);
    const Occupant two = occupant(each.huge);
    cluster.nodes.add(slot, small);
    const NodeUsage before = cluster.nodes.usage(slot);
    cluster.nodes.add(slot, one);
    cluster.nodes.add(slot, two);
    cluster.nodes.remove(slot, one);
    cluster.nodes.remove(slot, two);
    CHECK(cluster.nodes.usage(slot) == before);
  }
}

TEST_CASE("a node lists its occupants by importance") {
  using std::chrono::seconds;
  const Time start{seconds(1'000'000)};
  Cluster cluster;
  cluster.upsert(node("a"));
  const NodeSlot slot = cluster.nodes.find("a");
  const auto pod_of = [&](std::int32_t priority, Time since) {
    Occupant made = occupant(100);
    made.priority = priority;
    made.since = since;
    return made;
  };
  const Occupant low = pod_of(-5, start);
  Occupant old = pod_of(10, start);
  const Occupant young = pod_of(10, start + seconds(60));
  const Occupant not_started = pod_of(10, Occupant::kNotStarted);
  const Occupant also_not_started = pod_of(10, Occupant::kNotStarted);
  const Occupant high = pod_of(100, Occupant::kNotStarted);
  using List = std::vector<const Occupant*>;
  for (const Occupant* each : List{&low, &not_started, &young, &high, &old, &also_not_started}) {
    cluster.nodes.add(slot, *each);
  }
  CHECK(cluster.nodes.occupants(slot) ==
        List{&high, &old, &young, &not_started, &also_not_started, &low});

  cluster.nodes.remove(slot, young);
  CHECK(cluster.nodes.occupants(slot) == List{&high, &old, &not_started, &also_not_started, &low});

  // Another priority is no change of what is taken there.
  const auto seen = cluster.nodes.changes().end();
  const auto openings = cluster.nodes.openings();
  Occupant promoted = old;
  promoted.priority = 1'000;
  cluster.nodes.change(slot, old, promoted);
  CHECK(cluster.nodes.occupants(slot) == List{&old, &high, &not_started, &also_not_started, &low});
  CHECK(old.priority == 1'000);
  CHECK(cluster.nodes.changes().end() == seen);
  // Rules across nodes may count a pod that is being deleted otherwise.
  Occupant terminating = old;
  terminating.terminating = true;
  cluster.nodes.change(slot, old, terminating);
  CHECK(cluster.nodes.changes().end() == seen + 1);
  CHECK(cluster.nodes.openings() == openings);

  Occupant resized = old;
  resized.claim = occupant(300).claim;
  resized.priority = 10;
  cluster.nodes.change(slot, old, resized);
  CHECK(cluster.nodes.occupants(slot) == List{&high, &old, &not_started, &also_not_started, &low});
  CHECK(cluster.nodes.usage(slot).requested.get(kCpu) == 700);
  CHECK(cluster.nodes.changes().end() > seen);
}

TEST_CASE("only what gives something back is an opening") {
  Cluster cluster;
  cluster.upsert(node("a"));
  const NodeSlot slot = cluster.nodes.find("a");
  const Occupant taken = occupant(100);
  auto openings = cluster.nodes.openings();
  cluster.nodes.add(slot, taken);
  CHECK(cluster.nodes.openings() == openings);
  cluster.nodes.remove(slot, taken);
  CHECK(cluster.nodes.openings() > openings);
  openings = cluster.nodes.openings();
  cluster.upsert(node("a").labelled("zone", "z1"));
  CHECK(cluster.nodes.openings() > openings);
}

TEST_CASE("how many GPUs a node offers stands where orders of nodes read it") {
  Cluster cluster;
  cluster.upsert(node("a").gpus(8));
  const NodeSlot slot = cluster.nodes.find("a");
  CHECK(cluster.nodes.gpus(slot) == 8);
  cluster.upsert(node("a").gpus(7));
  CHECK(cluster.nodes.gpus(slot) == 7);
  cluster.upsert(node("a").gpus(std::numeric_limits<std::int64_t>::max()));
  CHECK(cluster.nodes.gpus(slot) == std::numeric_limits<std::int32_t>::max());
  cluster.upsert(node("a"));
  CHECK(cluster.nodes.gpus(slot) == 0);
}

TEST_CASE("ranks follow names, however the nodes come and go") {
  std::mt19937 random(11);
  Cluster cluster;
  // Always between the first and the second: forces ranks to be dealt anew.
  std::string name = "n";
  cluster.upsert(node("m"));
  std::map<std::string, std::uint64_t> before;
  std::uint64_t version = cluster.nodes.ranking_version();
  int dealt = 0;
  for (int i = 0; i < 200; ++i) {
    name = "n" + std::string(static_cast<std::size_t>(200 - i), 'a');
    cluster.upsert(node(name));
    if (random() % 4 == 0) cluster.nodes.erase(name);
    std::uint64_t last = 0;
    const bool dealt_anew = std::exchange(version, cluster.nodes.ranking_version()) != version;
    dealt += dealt_anew;
    for (const auto& [known, slot] : cluster.nodes.by_name()) {
      const auto found = before.find(known);
      if (found != before.end() && !dealt_anew) {
        REQUIRE(found->second == cluster.nodes.rank(slot));
      }
      before[known] = cluster.nodes.rank(slot);
      REQUIRE(cluster.nodes.name(slot) == known);
      REQUIRE(cluster.nodes.rank(slot) > last);
      last = cluster.nodes.rank(slot);
    }
  }
  CHECK(dealt > 0);
}
