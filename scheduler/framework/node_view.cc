#include "scheduler/framework/node_view.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/mig/product.h"

namespace sched {

NodeFacts facts_of(const k8s::Node& node, ResourceNames& names) {
  const std::string* product = node.metadata.labels.find(gpu::kProductLabel);
  return {.name = node.metadata.name,
          .labels = node.metadata.labels,
          .taints = node.spec.taints,
          .unschedulable = node.spec.unschedulable,
          .allocatable = to_resources(node.status.allocatable, names),
          .gpu_product = product == nullptr ? std::string() : *product,
          .gpu_devices = 0,
          .mig_geometry = product == nullptr ? nullptr : gpu::mig::geometry_of(*product)};
}

}  // namespace sched
