#include "scheduler/gpu/choose_devices.h"

#include "scheduler/gpu/mig/place.h"

namespace sched::gpu {
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

const mig::Profile* mig_profile(const Demand& demand, const NodeDevices& node) {
  return node.geometry == nullptr ? nullptr : node.geometry->find(demand.mig_profile);
}

}  // namespace

std::optional<std::vector<DeviceShare>> choose_devices(const Demand& demand,
                                                       const NodeDevices& node) {
  if (demand.is_none()) return std::vector<DeviceShare>{};
  if (demand.is_mig()) {
    const mig::Profile* profile = mig_profile(demand, node);
    if (profile == nullptr) return std::nullopt;
    return mig::place(*profile, demand.gpus, node.uses, node.count);
  }
  return demand.is_share() ? fullest_with_room(demand.milli, node) : first_free(demand.gpus, node);
}

bool fits_devices(const Demand& demand, const NodeDevices& node) {
  if (demand.is_none()) return true;
  if (demand.is_mig()) {
    const mig::Profile* profile = mig_profile(demand, node);
    return profile != nullptr && mig::room_for(*profile, node.uses, node.count) >= demand.gpus;
  }
  std::int64_t fitting = 0;
  for (std::uint32_t i = 0; i < node.count && fitting < demand.gpus; ++i) {
    const DeviceUse use = node.use(i);
    if (use.slices == 0 && use.milli + demand.milli <= kMilliPerGpu) ++fitting;
  }
  return fitting == demand.gpus;
}

}  // namespace sched::gpu
