#include "bench/replay/trace/devices_apart.h"

#include "bench/replay/trace/gpu_amounts.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/devices.h"
#include "scheduler/gpu/mig/geometry.h"
#include "scheduler/gpu/product.h"

#include <algorithm>
#include <string>

namespace bench::replay {
namespace {

bool offers_mig(const k8s::Node& node) {
  const auto& offers = node.status.allocatable;
  return std::any_of(offers.begin(), offers.end(), [](const auto& offer) {
    return offer.first.starts_with(sched::gpu::kMigResourcePrefix);
  });
}

bool speaks_of_devices(const Trace& trace) {
  const bool mig_is_counted = std::any_of(trace.nodes.begin(), trace.nodes.end(), offers_mig);
  const auto demands = demands_of(trace.pods);
  return std::any_of(demands.begin(), demands.end(), [&](const sched::gpu::Demand& demand) {
    return demand.is_share() || (demand.has_instances() && !mig_is_counted);
  });
}

// Adds the thousandths of the whole GPUs in `list`, if they are missing.
void add_milli(k8s::ResourceList& list) {
  std::int64_t gpus = 0;
  for (const auto& [name, quantity] : list) {
    if (name == sched::gpu::kMilliResource) return;
    if (name == kGpuResource) gpus = quantity.value();
  }
  // More than any machine has; what cannot be multiplied fits nowhere anyway.
  constexpr std::int64_t kMost = 1'000'000'000;
  if (gpus <= 0) return;
  const std::int64_t milli = std::min(gpus, kMost) * sched::gpu::kMilliPerGpu;
  list.emplace_back(sched::gpu::kMilliResource, k8s::Quantity::of(milli));
}

void add_milli(std::vector<k8s::Container>& containers) {
  for (k8s::Container& container : containers) {
    add_milli(container.requests);
    add_milli(container.limits);
  }
}

// Adds the most of each MIG profile that the node's GPUs can be partitioned into, each profile
// alone. The engine decides which of them fit together on one GPU.
void add_instances(k8s::Node& node) {
  const std::string* product = node.metadata.labels.find(sched::gpu::kProductLabel);
  const auto* geometry = product == nullptr ? nullptr : sched::gpu::geometry_of(*product);
  const std::int64_t gpus = std::min<std::int64_t>(gpus_of(node), sched::gpu::kMaxDevices);
  if (geometry == nullptr || gpus <= 0 || offers_mig(node)) return;
  for (const sched::gpu::mig::Profile& profile : geometry->profiles) {
    node.status.allocatable.emplace_back(sched::gpu::mig::resource_of(profile),
                                         k8s::Quantity::of(gpus * profile.max_instances));
  }
}

bool asks_for_mig(const Trace& trace) {
  const auto demands = demands_of(trace.pods);
  return std::any_of(demands.begin(), demands.end(),
                     [](const sched::gpu::Demand& demand) { return demand.has_instances(); });
}

}  // namespace

void keep_devices_apart_if_asked(Trace& trace) {
  trace.devices_apart = speaks_of_devices(trace);
  if (!trace.devices_apart) return;
  const bool with_mig = asks_for_mig(trace);
  for (k8s::Node& node : trace.nodes) {
    add_milli(node.status.allocatable);
    if (with_mig) add_instances(node);
  }
  for (TracePod& pod : trace.pods) {
    add_milli(pod.pod.spec.init_containers);
    add_milli(pod.pod.spec.containers);
  }
}

}  // namespace bench::replay
