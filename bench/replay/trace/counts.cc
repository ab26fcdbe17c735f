#include "bench/replay/trace/counts.h"

#include "bench/replay/trace/gpu_amounts.h"

namespace bench::replay {
namespace {

const char* kind_of(const sched::gpu::Demand& demand) {
  if (demand.is_none()) return "pods without GPU";
  if (demand.has_instances()) return "pods with a MIG instance";
  if (demand.is_share()) return "pods with a share of a GPU";
  return demand.gpus == 1 ? "pods with one GPU" : "pods with several GPUs";
}

}  // namespace

void count(Trace& trace) {
  auto& counts = trace.counts;
  counts["nodes"] = trace.nodes.size();
  counts["pods"] = trace.pods.size();
  for (const k8s::Node& node : trace.nodes) {
    const auto gpus = static_cast<std::size_t>(gpus_of(node));
    if (gpus == 0) continue;
    ++counts["nodes with GPU"];
    counts["GPUs"] += gpus;
  }
  const auto demands = demands_of(trace.pods);
  for (std::size_t i = 0; i < trace.pods.size(); ++i) {
    const TracePod& pod = trace.pods[i];
    ++counts[kind_of(demands[i])];
    if (!demands[i].products.empty()) ++counts["pods bound to GPU models"];
    if (pod.bound_to_start_with) ++counts["pods on their nodes to start with"];
    if (!pod.created) ++counts["pods without creation time"];
    if (!pod.deleted) ++counts["pods without end"];
  }
}

}  // namespace bench::replay
