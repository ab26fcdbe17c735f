#include "bench/devices/choose.h"

#include "bench/devices/place.h"
#include "bench/devices/place_together.h"

#include <utility>

namespace bench {

using namespace sched::gpu;

namespace {

std::optional<std::vector<DeviceShare>> first_free(std::int64_t gpus, const NodeDevices& node) {
  std::vector<DeviceShare> taken;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    if (static_cast<std::int64_t>(taken.size()) == gpus) break;
    if (!node.use(i).is_free()) continue;
    taken.push_back({.device = i, .milli = static_cast<std::int32_t>(kMilliPerGpu)});
  }
  if (static_cast<std::int64_t>(taken.size()) < gpus) return std::nullopt;
  return taken;
}

std::optional<std::vector<DeviceShare>> fullest_with_room(std::int64_t milli,
                                                          const NodeDevices& node) {
  std::optional<DeviceShare> best;
  std::int32_t best_taken = -1;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    const DeviceUse use = node.use(i);
    if (use.slices != 0 || use.milli + milli > kMilliPerGpu || use.milli <= best_taken) continue;
    best = DeviceShare{.device = i, .milli = static_cast<std::int32_t>(milli)};
    best_taken = use.milli;
  }
  if (!best) return std::nullopt;
  return std::vector<DeviceShare>{*best};
}

// nullopt: the model has no such profile, or there is not enough room.
std::optional<std::vector<DeviceShare>> instances_on(const std::vector<InstanceDemand>& demands,
                                                     const NodeDevices& node) {
  if (node.geometry == nullptr) return std::nullopt;
  std::vector<InstanceRequest> requests;
  for (const InstanceDemand& demand : demands) {
    const mig::Profile* profile = node.geometry->find(demand.profile);
    if (profile == nullptr) return std::nullopt;
    requests.push_back({profile, demand.count});
  }
  if (requests.size() > 1) {
    return place_together(*node.geometry, requests, node.uses, node.count);
  }
  const InstanceRequest& only = requests.front();
  return place(*only.profile, only.count, node.uses, node.count);
}

std::optional<std::vector<DeviceShare>> gpus_on(const Demand& demand, const NodeDevices& node) {
  return demand.is_share() ? fullest_with_room(demand.milli, node) : first_free(demand.gpus, node);
}

bool fits_gpus(const Demand& demand, const NodeDevices& node) {
  std::int64_t fitting = 0;
  for (std::uint32_t i = 0; i < node.count && fitting < demand.gpus; ++i) {
    const DeviceUse use = node.use(i);
    if (use.slices == 0 && use.milli + demand.milli <= kMilliPerGpu) ++fitting;
  }
  return fitting == demand.gpus;
}

}  // namespace

std::optional<std::vector<DeviceShare>> choose_devices(const Demand& demand,
                                                       const NodeDevices& node) {
  std::optional<std::vector<DeviceShare>> taken(std::in_place);
  if (demand.gpus > 0) taken = gpus_on(demand, node);
  if (!taken || !demand.has_instances()) return taken;
  DeviceUses uses = node.uses;
  for (const DeviceShare& share : *taken) add(uses, share);
  const auto instances = instances_on(demand.instances, {uses, node.count, node.geometry});
  if (!instances) return std::nullopt;
  taken->insert(taken->end(), instances->begin(), instances->end());
  return taken;
}

bool fits_devices(const Demand& demand, const NodeDevices& node) {
  if (!demand.has_instances()) return fits_gpus(demand, node);
  if (demand.gpus > 0 || demand.instances.size() > 1) {
    return choose_devices(demand, node).has_value();
  }
  const InstanceDemand& only = demand.instances.front();
  const mig::Profile* profile =
      node.geometry == nullptr ? nullptr : node.geometry->find(only.profile);
  return profile != nullptr && room_for(*profile, node.uses, node.count) >= only.count;
}

}  // namespace bench
