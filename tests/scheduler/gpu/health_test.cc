#include "scheduler/gpu/health.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

using namespace sched::gpu;
using tests::node;

TEST_CASE("which conditions of a node are alarms") {
  const NodeHealth health = health_of(node("n")
                                          .condition("XIDErrors", "True", "GPUHasXIDErrors")
                                          .condition("KernelReady", "False")
                                          .condition("NetworkingReady", "True")
                                          .condition("GPUMissing", "False")
                                          .condition("IBLinkFlapping", "Unknown")
                                          .condition("StorageReady", "Unknown")
                                          // Kubelet's own.
                                          .condition("Ready", "False")
                                          .condition("MemoryPressure", "True")
                                          .condition("DiskPressure", "True")
                                          .condition("PIDPressure", "True")
                                          .condition("NetworkUnavailable", "True")
                                          .condition("Aged", "True"),
                                      {});
  CHECK((health.alarms ==
         std::vector<Alarm>{{"Aged", ""}, {"KernelReady", ""}, {"XIDErrors", "GPUHasXIDErrors"}}));
  CHECK_FALSE(health.backoff);
}

TEST_CASE("whether a node's MIG configuration is being changed") {
  struct Case {
    const char* state;
    MigChange want;
    const char* text;
  };
  for (const Case& each : {Case{"success", MigChange::kNone, ""}, Case{"", MigChange::kNone, ""},
                           Case{"pending", MigChange::kPending, "pending"},
                           Case{"rebooting", MigChange::kRebooting, "rebooting"},
                           Case{"failed", MigChange::kFailed, "failed"}}) {
    INFO(each.state);
    const NodeHealth health = health_of(
        node("n").labelled(kMigStateLabel, each.state).labelled(kMigConfigLabel, "all-1g.5gb"), {});
    CHECK((health.mig_change == each.want));
    CHECK(to_string(each.want) == each.text);
    CHECK(health.mig_config == (each.want == MigChange::kNone ? "" : "all-1g.5gb"));
  }
  CHECK(health_of(node("n").labelled(kMigStateLabel, "failed"), {}).mig_config.empty());
}

TEST_CASE("whether labels say that a node has GPUs") {
  const auto labelled = [](const char* key, const char* value) {
    return health_of(node("n").labelled(key, value), {.product = {"gpu-type"}, .memory = {}})
        .labelled_gpus;
  };
  CHECK(labelled("nvidia.com/gpu.present", "true"));
  CHECK_FALSE(labelled("nvidia.com/gpu.present", "false"));
  CHECK(labelled("nvidia.com/gpu.product", "NVIDIA-L4"));
  CHECK(labelled("gpu-type", "l4"));
  CHECK_FALSE(labelled("zone", "a"));
}
