// The scores of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent" (USENIX ATC'23), as in their artefact
// (hkust-adsl/kubernetes-scheduler-simulator@8f3d641). Policies are compared with these. Each is
// described at the top of its source.
#pragma once

#include "scheduler/framework/registry.h"

#include <cstdint>

namespace bench {

[[nodiscard]] sched::PluginInstance make_best_fit(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_dot_prod(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_fgd(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_gpu_clustering(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_gpu_packing_score(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_random_device(k8s::yaml::ObjectReader& args);
[[nodiscard]] sched::PluginInstance make_random_device(std::uint64_t seed);

// The units of their amounts, the largest node of the openb trace: MaxSpecCpu and MaxSpecGpu of the
// artefact.
inline constexpr std::int64_t kPublishedMaxCpu = 128'000;  // milli-CPU
inline constexpr std::int64_t kPublishedMaxGpu = 8'000;    // milli-GPU
// The weight of an amount of GPU relative to one of CPU.
inline constexpr std::int64_t kPublishedGpuPerCpu = kPublishedMaxCpu / kPublishedMaxGpu;

}  // namespace bench
