// Flags that were given, as a suggested next command repeats them: each with a leading space, and
// quoted where a shell would not read it as one word.
#pragma once

#include "scheduler/kubectl-gpu/options.h"

#include <string>

namespace sched::kubectl {

// --kubeconfig and --context, which kubectl takes, too; empty with --from.
[[nodiscard]] std::string kubectl_flags(const Options& options);
// The cluster or the files in its place, and the scheduler's configuration.
[[nodiscard]] std::string cluster_flags(const Options& options);
// -n; empty with -A.
[[nodiscard]] std::string namespace_flag(const Options& options);
// How the scheduler is reached, as far as it differs from what holds without flags.
[[nodiscard]] std::string scheduler_flags(const SchedulerOptions& options);
// "gpu-scheduler -n gpu-scheduler": its lease, for kubectl.
[[nodiscard]] std::string lease_of(const LeaderAddress& leader);

}  // namespace sched::kubectl
