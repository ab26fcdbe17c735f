#include "scheduler/engine/repartition/repartitioned.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/health.h"
#include "scheduler/gpu/labels.h"
#include "scheduler/gpu/resource_kind.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace sched {
namespace {

constexpr std::string_view kCountLabel = "nvidia.com/gpu.count";

// Removes the present instances: their resources, and their labels.
void forget_instances(NodeFacts& node, const ResourceNames& names) {
  std::vector<ResourceId> offered;
  node.allocatable.for_each([&](ResourceId id, std::int64_t /*amount*/) {
    if (gpu::is_gpu_resource(names.name(id))) offered.push_back(id);
  });
  for (const ResourceId id : offered) node.allocatable.set(id, 0);
  std::vector<std::string> stale;
  for (const auto& [key, value] : node.labels) {
    if (key.starts_with(gpu::kMigResourcePrefix)) stale.push_back(key);
  }
  for (const std::string& key : stale) node.labels.erase(key);
}

void partition_mixed(NodeFacts& node, const gpu::mig::Configuration& to, std::int64_t gpus,
                     const ResourceNames& names) {
  for (const gpu::mig::InstanceCount& each : to.instances) {
    // No pod asks for a name that is not known.
    if (const auto id = names.find(gpu::mig::resource_of(*each.profile))) {
      node.allocatable.set(*id, each.per_gpu * gpus);
    }
  }
}

void partition_single(NodeFacts& node, const gpu::mig::InstanceCount& to, std::int64_t gpus) {
  const std::int64_t instances = to.per_gpu * gpus;
  const std::string resource = gpu::mig::resource_of(*to.profile);
  const std::string_view profile =
      std::string_view(resource).substr(gpu::kMigResourcePrefix.size());
  node.allocatable.set(kNvidiaGpu, instances);
  node.labels.set(gpu::kProductLabel, fmt::format("{}-MIG-{}", node.gpu.product.name, profile));
  node.labels.set(kCountLabel, std::to_string(instances));
  node.labels.erase(gpu::kMemoryLabel);
}

}  // namespace

std::int64_t physical_gpus(const NodeFacts& node) {
  const gpu::Inventory& gpu = node.gpu;
  if (gpu.single_profile.empty()) return gpu.gpu_count;
  const std::string* name = node.labels.find(gpu::kMigConfigLabel);
  if (name == nullptr || gpu.product.geometry == nullptr) return 0;
  const gpu::mig::Profile* profile = gpu.product.geometry->find(gpu.single_profile);
  for (const auto& each : gpu::mig::configurations(*gpu.product.geometry)) {
    if (each.name != *name || each.instances.size() != 1) continue;
    const auto& [partitioned_into, per_gpu] = each.instances.front();
    if (partitioned_into == profile && gpu.gpu_count % per_gpu == 0) return gpu.gpu_count / per_gpu;
  }
  return 0;
}

NodeFacts repartitioned(const NodeFacts& node, const gpu::mig::Configuration& to, std::int64_t gpus,
                        const ResourceNames& names, const gpu::SiteLabels& site) {
  NodeFacts facts = node;
  // GPU feature discovery will have labelled the node by then.
  facts.labels = labels_with_kept(node);
  facts.kept_labels = {};
  forget_instances(facts, names);
  if (node.gpu.mig_strategy == "single") {
    partition_single(facts, to.instances.front(), gpus);
  } else {
    partition_mixed(facts, to, gpus, names);
  }
  facts.labels.set(gpu::kMigConfigLabel, to.name);
  facts.gpu = gpu::inventory_of(facts.labels, facts.allocatable, names, site);
  return facts;
}

}  // namespace sched
