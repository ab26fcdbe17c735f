#include "bench/policies/registry.h"

#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <string>

TEST_CASE("bench knows the scheduler's plugins, and those of studies, each in its place") {
  std::string names;
  for (const sched::PluginEntry& entry : bench::registry()) names.append(entry.name).append(" ");
  CHECK(names ==
        "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit "
        "GpuDevices NodeResourcesBalancedAllocation GpuHealth GpuType MigFit GpuSharing GpuPacking "
        "UsableGpu "
        "UnsupportedConstraints VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
        "PodTopologySpread InterPodAffinity ImageLocality DefaultPreemption "
        "NodeDeclaredFeatures DeviceClasses "
        "Fgd BestFit DotProd GpuClustering GpuPackingScore RandomDevice MigPlacement ");
}

TEST_CASE("a scheduler whose configuration names a plugin of replays is told so") {
  for (const sched::PluginEntry& entry : bench::registry()) {
    if (find_plugin(plugins::registry(), entry.name) != nullptr) continue;
    for (const auto* where : {"plugins: {{multiPoint: {{enabled: [{{name: {}}}]}}}}",
                              "plugins: {{multiPoint: {{disabled: [{{name: {}}}]}}}}",
                              "pluginConfig: [{{name: {}, args: {{}}}}]"}) {
      const std::string text =
          "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
          "profiles:\n- schedulerName: s\n  " +
          fmt::format(fmt::runtime(where), entry.name);
      INFO(text);
      const auto refused = sched::config::parse(text, "c.yaml", plugins::registry());
      REQUIRE_FALSE(refused);
      CHECK_THAT(
          refused.error().message,
          Catch::StartsWith("c.yaml:5: profiles[0].plugin") &&
              Catch::EndsWith(fmt::format("{} is for replays only and not in this scheduler; "
                                          "manifests/policies/README.md says what to use instead",
                                          entry.name)));
    }
  }
}
