#include "scheduler/framework/free_devices.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <vector>

namespace sched {
namespace {

using Milli = std::vector<std::int32_t>;

Milli free_of(const NodeView& node) {
  const FreeDevices free = free_devices(node);
  return {free.begin(), free.end()};
}

TEST_CASE("of devices that are only counted the taken ones come first") {
  struct Case {
    const char* name;
    tests::NodeBuilder node;
    std::int64_t taken;
    Milli want;
  };
  const auto gpus = [](std::int64_t count) { return tests::node("n").gpus(count); };
  const std::vector<Case> cases = {
      {"none", gpus(0), 0, {}},
      {"all free", gpus(2), 0, {1'000, 1'000}},
      {"one taken", gpus(3), 1, {0, 1'000, 1'000}},
      {"all taken", gpus(2), 2, {0, 0}},
      {"more taken than there are", gpus(2), 5, {0, 0}},
      {"less than nothing taken", gpus(2), -1, {1'000, 1'000}},
      {"shared ones are none", gpus(2).product("NVIDIA-L4-SHARED"), 0, {}},
      {"nor are instances", gpus(7).product("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"), 0, {}},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    ResourceNames names;
    const NodeFacts facts = facts_of(each.node, names);
    NodeUsage usage;
    usage.requested.set(kNvidiaGpu, each.taken);
    const NodeView view{facts, usage};
    CHECK(free_of(view) == each.want);
    std::int64_t all = 0;
    for (const std::int32_t milli : each.want) all += milli;
    CHECK(free_devices(view).total() == all);
    CHECK(whole_devices(view) == all / 1'000);
  }
}

TEST_CASE("of more devices than any node has, so many count") {
  ResourceNames names;
  const NodeFacts facts = facts_of(tests::node("n").gpus(100), names);
  NodeUsage usage;
  usage.requested.set(kNvidiaGpu, 30);
  CHECK(free_of({facts, usage}) == Milli(gpu::kMaxDevices, 1'000));
  CHECK(whole_devices({facts, usage}) == 64);
  usage.requested.set(kNvidiaGpu, 99);
  CHECK(whole_devices({facts, usage}) == 1);
  CHECK(free_of({facts, usage}).size() == gpu::kMaxDevices);
}

TEST_CASE("devices that are kept one by one have what is left of each") {
  ResourceNames names;
  NodeFacts facts = facts_of(tests::node("n").gpus(4), names);
  facts.gpu_devices = 4;
  NodeUsage usage;
  CHECK(free_of({facts, usage}) == Milli(4, 1'000));
  usage.devices = {{.milli = 300}, {.slices = 1}, {.milli = 1'000}};
  CHECK(free_of({facts, usage}) == Milli{700, 0, 0, 1'000});
  CHECK(free_devices({facts, usage}).total() == 1'700);
}

}  // namespace
}  // namespace sched
