#include "scheduler/cluster/cpu_use.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <limits>
#include <list>
#include <string_view>

using namespace sched;
using tests::node;

namespace {

// Nodes with 100 GPUs and 1,000 cores in all.
struct HundredGpus {
  ResourceNames names;
  Nodes nodes;
  std::list<Occupant> pods;

  HundredGpus() {
    has(node("a").gpus(60).cpu("600"));
    has(node("b").gpus(40).cpu("400"));
  }

  void has(const k8s::Node& object) { CHECK(nodes.upsert(facts_of(object, names))); }
  void takes(std::string_view name, std::int64_t cores, std::int64_t gpus) {
    Occupant& pod = pods.emplace_back();
    if (cores > 0) pod.claim.requests.push_back({kCpu, cores * 1'000});
    if (gpus > 0) pod.claim.requests.push_back({kNvidiaGpu, gpus});
    nodes.add(nodes.slot_of(name), pod);
  }
  [[nodiscard]] bool scarce(bool before = false) const { return cpu_is_scarce(nodes, before); }
};

// Where so much is in use, on both nodes alike.
bool scarce(std::int64_t cores, std::int64_t gpus, bool before = false) {
  HundredGpus cluster;
  cluster.takes("a", cores * 6 / 10, gpus * 6 / 10);
  cluster.takes("b", cores - cores * 6 / 10, gpus - gpus * 6 / 10);
  return cluster.scarce(before);
}

}  // namespace

TEST_CASE("CPU is scarce where much of it is in use, and about as great a part as of the GPUs") {
  CHECK(scarce(900, 0));
  CHECK_FALSE(scarce(899, 0));
  CHECK(scarce(970, 100));
  CHECK_FALSE(scarce(969, 100));
  CHECK(scarce(920, 94));
  CHECK_FALSE(scarce(920, 95));
}

TEST_CASE("a little less of it in use does not end that CPU is scarce") {
  CHECK(scarce(880, 0, true));
  CHECK_FALSE(scarce(879, 0, true));
  CHECK(scarce(950, 100, true));
  CHECK_FALSE(scarce(949, 100, true));
}

TEST_CASE("CPU counts on nodes with whole GPUs that take pods") {
  HundredGpus cluster;
  cluster.has(node("cpu").cpu("9000"));
  cluster.has(node("mig").cpu("9000").offers("nvidia.com/mig-1g.5gb", "7"));
  cluster.has(node("cordoned").gpus(100).cpu("9000").cordoned());
  for (const char* other : {"cpu", "mig", "cordoned", "gone"}) cluster.takes(other, 9'000, 0);
  CHECK_FALSE(cluster.scarce());
  cluster.takes("a", 600, 0);
  cluster.takes("b", 300, 0);
  CHECK(cluster.scarce());

  HundredGpus none;
  none.nodes.erase("a");
  none.nodes.erase("b");
  CHECK_FALSE(none.scarce());
  CHECK_FALSE(none.scarce(true));
}

TEST_CASE("what is on a node beyond what it has makes no CPU scarce elsewhere") {
  HundredGpus cluster;
  cluster.takes("a", 1'000'000, 0);
  cluster.takes("a", 1'000'000, 0);
  CHECK_FALSE(cluster.scarce());
  cluster.takes("b", 300, 0);
  CHECK(cluster.scarce());
  cluster.takes("b", 0, 1'000'000);
  CHECK(cluster.scarce());  // 40 of 100 GPUs
}

TEST_CASE("GPUs that are kept one by one count by what is taken of each") {
  const auto scarce = [](const gpu::DeviceShare& of_each) {
    HundredGpus cluster;
    NodeFacts facts = facts_of(node("a").gpus(60).cpu("600"), cluster.names);
    facts.gpu_devices = 60;
    CHECK(cluster.nodes.upsert(facts));
    cluster.takes("a", 600, 0);
    cluster.takes("b", 300, 33);
    Occupant shares;
    for (std::uint32_t device = 0; device < 60; ++device) {
      shares.claim.devices.push_back(of_each);
      shares.claim.devices.back().device = device;
    }
    cluster.nodes.add(cluster.nodes.find("a"), shares);
    const bool found = cluster.scarce();
    cluster.nodes.remove(cluster.nodes.find("a"), shares);
    return found;
  };
  // 0.9 of the CPU, and of 100 GPUs 93, or 63.
  CHECK_FALSE(scarce({.milli = 1'000}));
  CHECK(scarce({.milli = 500}));
  CHECK_FALSE(scarce({.slices = 1}));  // a GPU that is partitioned into instances is in use
}

TEST_CASE("amounts in Node objects that no node has are added up all the same") {
  HundredGpus cluster;
  for (const char* name : {"x", "y"}) {
    NodeFacts facts = facts_of(node(name).gpus(8).cpu("1"), cluster.names);
    facts.allocatable.set(kCpu, std::numeric_limits<std::int64_t>::max());
    facts.gpu.gpus = std::numeric_limits<std::int64_t>::max();
    CHECK(cluster.nodes.upsert(facts));
  }
  cluster.takes("a", 600, 60);
  cluster.takes("b", 400, 40);
  CHECK_FALSE(cluster.scarce());
}
