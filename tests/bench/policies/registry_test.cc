#include "bench/policies/registry.h"

#include "tests/support/catch.h"

#include <string_view>
#include <vector>

TEST_CASE("bench knows the scheduler's plugins, and those of studies, each in its place") {
  std::vector<std::string_view> names;
  for (const sched::PluginEntry& entry : bench::registry()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string_view>{"NodeUnschedulable", "NodeName",
                                               "TaintToleration",   "NodeAffinity",
                                               "NodePorts",         "NodeResourcesFit",
                                               "GpuDevices",        "GpuHealth",
                                               "GpuType",           "MigFit",
                                               "GpuSharing",        "GpuPacking",
                                               "UsableGpu",         "UnsupportedConstraints",
                                               "VolumeConstraints", "ExistingAntiAffinity",
                                               "DeviceClasses",     "Fgd",
                                               "BestFit",           "DotProd",
                                               "GpuClustering",     "GpuPackingScore",
                                               "RandomDevice",      "MigPlacement"});
}
