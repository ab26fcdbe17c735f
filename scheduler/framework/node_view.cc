#include "scheduler/framework/node_view.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/health.h"

#include <utility>

namespace sched {
namespace {

gpu::PieceCounts piece_counts_of(const k8s::ResourceList& capacity) {
  gpu::PieceCounts counts;
  for (const auto& [name, amount] : capacity) {
    if (name == gpu::kGpuResource) counts.gpus = amount.value();
    if (name == gpu::kSharedResource) counts.shared = amount.value();
  }
  return counts;
}

}  // namespace

NodeFacts facts_of(const k8s::Node& node, ResourceNames& names, const gpu::SiteLabels& site) {
  Resources allocatable = to_resources(node.status.allocatable, names);
  gpu::Inventory gpu = gpu::inventory_of(node.metadata.labels, allocatable, names, site,
                                         piece_counts_of(node.status.capacity));
  return {.name = node.metadata.name,
          .uid = node.metadata.uid,
          .labels = node.metadata.labels,
          .taints = node.spec.taints,
          .unschedulable = node.spec.unschedulable,
          .declared_features = node.status.declared_features,
          .health = gpu::health_of(node, site),
          .gpu = std::move(gpu),
          .gpu_devices = 0,
          .allocatable = std::move(allocatable)};
}

k8s::StringMap labels_with_kept(const NodeFacts& node) {
  k8s::StringMap labels = node.labels;
  for (const auto& [key, value] : node.kept_labels) {
    if (labels.find(key) == nullptr) labels.set(key, value);
  }
  return labels;
}

gpu::Inventory inventory_of(const NodeFacts& node, const ResourceNames& names,
                            const gpu::SiteLabels& site) {
  return gpu::inventory_of(labels_with_kept(node), node.allocatable, names, site,
                           node.gpu.capacity);
}

}  // namespace sched
