#include "scheduler/framework/node_view.h"

#include "scheduler/gpu/health.h"

namespace sched {

NodeFacts facts_of(const k8s::Node& node, ResourceNames& names) {
  return {.name = node.metadata.name,
          .labels = node.metadata.labels,
          .taints = node.spec.taints,
          .unschedulable = node.spec.unschedulable,
          .allocatable = to_resources(node.status.allocatable, names),
          .gpu = gpu::inventory_of(node.metadata.labels),
          .gpu_devices = 0,
          .health = gpu::health_of(node)};
}

}  // namespace sched
