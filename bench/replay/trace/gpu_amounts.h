// How much GPU the nodes and pods of a trace offer and ask for, computed as by the engine.
#pragma once

#include "bench/replay/trace/trace.h"
#include "scheduler/framework/pod_shape.h"
#include "scheduler/gpu/demand.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace bench::replay {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

// The whole GPUs of a node.
[[nodiscard]] std::int64_t gpus_of(const k8s::Node& node);

// Thousandths of a GPU over all nodes.
[[nodiscard]] std::int64_t capacity_milli(const Trace& trace);

// What the pods ask for, in their order; MIG instances have no thousandths.
[[nodiscard]] std::vector<sched::gpu::Demand> demands_of(const std::vector<TracePod>& pods);

}  // namespace bench::replay
