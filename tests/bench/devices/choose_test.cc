#include "bench/devices/choose.h"

#include "tests/support/catch.h"

#include <optional>
#include <string>
#include <vector>

using namespace bench;
using namespace sched::gpu;

TEST_CASE("which devices a pod takes by default") {
  const DeviceUse half{.milli = 500};
  const DeviceUse most{.milli = 800};
  const DeviceUse full{.milli = 1000};
  const DeviceUse partitioned{.slices = 0b1};
  using Taken = std::optional<std::vector<DeviceShare>>;
  struct Case {
    std::string name;
    Demand demand;
    DeviceUses uses;
    std::int64_t count;
    Taken want;
  };
  const std::vector<Case> cases{
      {"nothing asked, nothing taken", {}, {full}, 1, std::vector<DeviceShare>{}},
      {"the first free ones",
       {.gpus = 2, .milli = 1000},
       {half, {}, full},
       4,
       std::vector<DeviceShare>{{.device = 1, .milli = 1000}, {.device = 3, .milli = 1000}}},
      {"too few are free", {.gpus = 2, .milli = 1000}, {half, {}, full}, 3, std::nullopt},
      {"a share goes where least is left",
       {.gpus = 1, .milli = 200},
       {half, most, {}},
       3,
       std::vector<DeviceShare>{{.device = 1, .milli = 200}}},
      {"of equals to the first",
       {.gpus = 1, .milli = 300},
       {{}, half, half},
       3,
       std::vector<DeviceShare>{{.device = 1, .milli = 300}}},
      {"no single GPU has enough left",
       {.gpus = 1, .milli = 600},
       {half, most, full},
       3,
       std::nullopt},
      {"a GPU that is partitioned into instances is neither free nor shared",
       {.gpus = 1, .milli = 100},
       {partitioned, full},
       2,
       std::nullopt},
      {"a node without GPUs", {.gpus = 1, .milli = 1000}, {}, 0, std::nullopt},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const NodeDevices node{c.uses, c.count, nullptr};
      CHECK(choose_devices(c.demand, node) == c.want);
      CHECK(fits_devices(c.demand, node) == c.want.has_value());
    }
  }
}
