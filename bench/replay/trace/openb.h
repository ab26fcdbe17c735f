// Reads the openb traces: Alibaba's cluster-trace-gpu-v2023 and its variants.
//
// nodes  sn, cpu_milli, memory_mib, gpu, model
// pods   name, cpu_milli, memory_mib, num_gpu, gpu_milli, and, except in the multigpu variants:
//        gpu_spec (models, "A|B"; empty: any), qos, pod_phase, creation_time, deletion_time,
//        scheduled_time (seconds since the trace began)
//
// `gpu_milli` is that of each device: 1,000 with several. `qos`, `pod_phase` and `scheduled_time`
// describe the pod's past on its cluster, and are not read. A pod without deletion time stays.
// Source: https://github.com/alibaba/clusterdata, cluster-trace-gpu-v2023.
#pragma once

#include "bench/replay/trace/text_file.h"
#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"

#include <vector>

namespace bench::replay {

[[nodiscard]] k8s::Result<std::vector<k8s::Node>> read_openb_nodes(const TextFile& file);
[[nodiscard]] k8s::Result<std::vector<TracePod>> read_openb_pods(const TextFile& file);

}  // namespace bench::replay
