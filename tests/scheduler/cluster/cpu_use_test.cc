#include "scheduler/cluster/cpu_use.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <limits>

using namespace sched;
using tests::node;

namespace {

// Nodes with 100 GPUs and 1,000 cores in all.
struct HundredGpus {
  ResourceNames names;
  Nodes nodes;
  Occupant taken;

  HundredGpus() {
    add(node("a").gpus(60).cpu("600"));
    add(node("b").gpus(40).cpu("400"));
  }

  void add(const k8s::Node& object) { CHECK(nodes.upsert(facts_of(object, names))); }
  bool scarce(std::int64_t cores, std::int64_t gpus, bool before = false) {
    return on("a", cores, gpus, before);
  }
  bool on(std::string_view name, std::int64_t cores, std::int64_t gpus, bool before = false) {
    taken.claim.requests.clear();
    if (cores > 0) taken.claim.requests.push_back({kCpu, cores * 1'000});
    if (gpus > 0) taken.claim.requests.push_back({kNvidiaGpu, gpus});
    const NodeSlot slot = nodes.slot_of(name);
    nodes.add(slot, taken);
    const bool found = cpu_is_scarce(nodes, before);
    nodes.remove(slot, taken);
    return found;
  }
};

}  // namespace

TEST_CASE("CPU is scarce where much of it is in use, and about as great a part as of the GPUs") {
  HundredGpus cluster;
  CHECK(cluster.scarce(900, 0));
  CHECK_FALSE(cluster.scarce(899, 0));
  CHECK(cluster.scarce(900, 60));
  Occupant all;
  all.claim.requests = {{kNvidiaGpu, 40}};
  cluster.nodes.add(cluster.nodes.find("b"), all);
  CHECK(cluster.scarce(970, 60));
  CHECK_FALSE(cluster.scarce(969, 60));
  CHECK(cluster.scarce(920, 54));
  CHECK_FALSE(cluster.scarce(920, 55));
  cluster.nodes.remove(cluster.nodes.find("b"), all);
}

TEST_CASE("a little less of it in use does not end that CPU is scarce") {
  HundredGpus cluster;
  CHECK(cluster.scarce(870, 0, true));
  CHECK_FALSE(cluster.scarce(869, 0, true));
  Occupant all;
  all.claim.requests = {{kNvidiaGpu, 40}};
  cluster.nodes.add(cluster.nodes.find("b"), all);
  CHECK(cluster.scarce(940, 60, true));
  CHECK_FALSE(cluster.scarce(939, 60, true));
  cluster.nodes.remove(cluster.nodes.find("b"), all);
}

TEST_CASE(
    "CPU of nodes without whole GPUs does not count, nor what is on nodes that do not exist") {
  HundredGpus cluster;
  cluster.add(node("cpu").cpu("9000"));
  cluster.add(node("mig").cpu("9000").offers("nvidia.com/mig-1g.5gb", "7"));
  CHECK(cluster.scarce(900, 0));
  for (const char* other : {"cpu", "mig", "gone"}) CHECK_FALSE(cluster.on(other, 9'000, 0));

  HundredGpus none;
  none.nodes.erase("a");
  none.nodes.erase("b");
  CHECK_FALSE(none.scarce(900, 0));
  CHECK_FALSE(none.scarce(900, 0, true));
}

TEST_CASE("GPUs that are kept one by one count by what is taken of each") {
  HundredGpus cluster;
  NodeFacts facts = facts_of(node("a").gpus(60).cpu("600"), cluster.names);
  facts.gpu_devices = 60;
  CHECK(cluster.nodes.upsert(facts));
  Occupant shares;
  shares.claim.requests = {{kCpu, 900'000}};
  for (std::uint32_t device = 0; device < 60; ++device) {
    shares.claim.devices.push_back({.device = device, .milli = 1'000});
  }
  Occupant all;
  all.claim.requests = {{kNvidiaGpu, 33}};
  cluster.nodes.add(cluster.nodes.find("a"), shares);
  cluster.nodes.add(cluster.nodes.find("b"), all);
  CHECK_FALSE(cpu_is_scarce(cluster.nodes, false));  // 93 of 100 GPUs, and 0.9 of the CPU
  cluster.nodes.remove(cluster.nodes.find("a"), shares);
  for (gpu::DeviceShare& share : shares.claim.devices) share.milli = 500;
  cluster.nodes.add(cluster.nodes.find("a"), shares);
  CHECK(cpu_is_scarce(cluster.nodes, false));  // 63
  cluster.nodes.remove(cluster.nodes.find("a"), shares);
  cluster.nodes.remove(cluster.nodes.find("b"), all);
}

TEST_CASE("amounts in Node objects that no node has are added up all the same") {
  HundredGpus cluster;
  for (const char* name : {"x", "y"}) {
    NodeFacts facts = facts_of(node(name).gpus(8).cpu("1"), cluster.names);
    facts.allocatable.set(kCpu, std::numeric_limits<std::int64_t>::max());
    CHECK(cluster.nodes.upsert(facts));
  }
  CHECK_FALSE(cluster.scarce(900, 0));
}
