#include "bench/devices/choose.h"
#include "bench/devices/place.h"
#include "bench/policies/gpu_devices/gpu_devices.h"
#include "scheduler/gpu/mig/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

using namespace sched;

constexpr unsigned kNoRoom = 0;
constexpr unsigned kNoProfile = 1;

std::vector<std::string> reasons_of(const gpu::Demand& demand) {
  const bool alone = demand.gpus == 0 && demand.instances.size() == 1;
  return {alone ? "node(s) had no GPU with room for the MIG instance"
                : "node(s) had no room for all of the GPUs and MIG instances together",
          "node(s) had GPUs without that MIG profile"};
}

class MigCheck final : public NodeFilter {
 public:
  explicit MigCheck(gpu::Demand demand)
      : demand_(std::move(demand)), reasons_(reasons_of(demand_)) {
    for (const auto& [profile, count] : demand_.instances) profiles_.emplace_back(profile);
  }

  Verdict check(const NodeView& node) const override {
    if (node.facts.gpu_devices == 0) return Verdict::ok();
    if (missing_on(node) != nullptr) return Verdict::unresolvable(1U << kNoProfile);
    return fits_devices(demand_, node_devices(node)) ? Verdict::ok()
                                                     : Verdict::unschedulable(1U << kNoRoom);
  }

  const std::vector<std::string>& reasons() const override { return reasons_; }

  std::string numbers(const NodeView& node, unsigned) const override {
    if (const auto* missing = missing_on(node)) {
      const std::string& product = node.facts.gpu.product.name;
      return fmt::format("{}: no profile of {}", missing->profile,
                         product.empty() ? "a GPU of unknown model" : product);
    }
    if (demand_.gpus > 0 || demand_.instances.size() > 1) return together_text(node);
    const auto& [name, count] = demand_.instances.front();
    if (count == 1) return fmt::format("{}: {}", name, slices_text(*profile(0, node), node));
    return fmt::format("{}: asked {}, room for {} on {} GPUs", name, count, room(0, node),
                       node.facts.gpu_devices);
  }

 private:
  // The first profile that the node's GPUs do not have; null: they have all.
  [[nodiscard]] const gpu::InstanceDemand* missing_on(const NodeView& node) const {
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      if (profile(i, node) == nullptr) return &demand_.instances[i];
    }
    return nullptr;
  }
  [[nodiscard]] const gpu::mig::Profile* profile(std::size_t index, const NodeView& node) const {
    return profiles_[index].on(node.facts.gpu.product.geometry);
  }
  [[nodiscard]] std::int64_t room(std::size_t index, const NodeView& node) const {
    return room_for(*profile(index, node), node.usage.devices, node.facts.gpu_devices);
  }

  // How many of each kind would have room if asked for alone.
  [[nodiscard]] std::string together_text(const NodeView& node) const {
    std::vector<std::string> kinds;
    if (demand_.is_share()) {
      kinds.push_back(fmt::format("{} thousandths of a GPU", demand_.milli));
    } else if (demand_.gpus > 0) {
      const NodeDevices devices = node_devices(node);
      std::int64_t whole = 0;
      for (std::uint32_t i = 0; i < devices.count; ++i) whole += devices.use(i).is_free() ? 1 : 0;
      kinds.push_back(fmt::format("{} whole GPUs (alone room for {})", demand_.gpus, whole));
    }
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      const auto& [name, count] = demand_.instances[i];
      kinds.push_back(fmt::format("{} of {} (alone room for {})", count, name, room(i, node)));
    }
    return fmt::format("asked {} on {} GPUs", fmt::join(kinds, ", "), node.facts.gpu_devices);
  }

  // Whether there are too few free slices, or only no legal start.
  static std::string slices_text(const gpu::mig::Profile& profile, const NodeView& node) {
    const std::int64_t devices = node.facts.gpu_devices;
    int most = 0;
    std::int64_t enough = 0;
    for (std::int64_t i = 0; i < devices; ++i) {
      const auto index = static_cast<std::size_t>(i);
      const gpu::DeviceUse use =
          index < node.usage.devices.size() ? node.usage.devices[index] : gpu::DeviceUse{};
      if (use.milli != 0) continue;
      const int free = node.facts.gpu.product.geometry->slices - std::popcount(use.slices);
      most = std::max(most, free);
      if (free >= profile.memory_slices) ++enough;
    }
    const std::string takes = std::to_string(profile.memory_slices);
    if (enough == 0) {
      return "takes " + takes + " slices, at most " + std::to_string(most) + " free on one of " +
             std::to_string(devices) + " GPUs";
    }
    return std::to_string(enough) + " of " + std::to_string(devices) + " GPUs have " + takes +
           " free slices, none at a legal start" +
           (profile.is_variant ? " with the engines it asks for" : "");
  }

  gpu::Demand demand_;
  std::vector<std::string> reasons_;
  std::vector<gpu::mig::ProfileByModel> profiles_;  // by index in demand_.instances
};

}  // namespace

std::unique_ptr<NodeFilter> make_mig_check(const gpu::Demand& demand) {
  return std::make_unique<MigCheck>(demand);
}

}  // namespace bench
