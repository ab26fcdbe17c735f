// What a configuration says about the cluster and its tenants (gpuLabels, gpuQuota), not about
// where pods go. Another policy that gets a recording is tried on the recorded cluster: of these
// settings it has those of the recorded configuration, unless its own file has them.
#pragma once

#include "bench/replay/policies/policies.h"
#include "k8s-client/error.h"
#include "scheduler/config/config.h"
#include "scheduler/framework/registry.h"
#include "scheduler/live/record/record.h"

namespace bench::replay {

[[nodiscard]] k8s::Result<sched::config::Configuration> recorded_config(
    const sched::live::RecordHeader& header, const sched::Registry& registry);

// Replaces these settings in `config`, which is that of `policy`.
[[nodiscard]] k8s::Result<void> take_site_settings(const sched::live::RecordHeader& header,
                                                   const Policy& policy,
                                                   const sched::Registry& registry,
                                                   sched::config::Configuration& config);

}  // namespace bench::replay
