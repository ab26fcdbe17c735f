#include "plugins/gpu_devices/mig_check.h"

#include "scheduler/gpu/choose_devices.h"
#include "scheduler/gpu/mig/geometry.h"
#include "scheduler/gpu/mig/place.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

constexpr unsigned kNoRoom = 0;
constexpr unsigned kNoProfile = 1;

class MigCheck final : public NodeFilter {
 public:
  explicit MigCheck(const gpu::Demand& demand)
      : instances_(demand.gpus),
        name_(demand.mig_profile),
        profiles_(demand.mig_profile),
        reasons_{"node(s) had no GPU with room for the MIG instance",
                 "node(s) had GPUs without that MIG profile"} {}

  Verdict check(const NodeView& node) const override {
    if (node.facts.gpu_devices == 0) return Verdict::ok();
    const gpu::mig::Profile* profile = profiles_.on(node.facts.gpu.product.geometry);
    if (profile == nullptr) return Verdict::unresolvable(1U << kNoProfile);
    return gpu::mig::room_for(*profile, node.usage.devices, node.facts.gpu_devices) >= instances_
               ? Verdict::ok()
               : Verdict::unschedulable(1U << kNoRoom);
  }

  const std::vector<std::string>& reasons() const override { return reasons_; }

  std::string numbers(const NodeView& node, unsigned index) const override {
    const gpu::mig::Profile* profile = profiles_.on(node.facts.gpu.product.geometry);
    if (index == kNoProfile || profile == nullptr) {
      return name_ + ": no profile of " +
             (node.facts.gpu.product.name.empty() ? "a GPU of unknown model"
                                                  : node.facts.gpu.product.name);
    }
    const std::int64_t devices = node.facts.gpu_devices;
    if (instances_ > 1) {
      return name_ + ": asked " + std::to_string(instances_) + ", room for " +
             std::to_string(gpu::mig::room_for(*profile, node.usage.devices, devices)) + " on " +
             std::to_string(devices) + " GPUs";
    }
    return name_ + ": " + slices_text(*profile, node);
  }

 private:
  // Whether slices are short, or only lie wrong.
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

  std::int64_t instances_;
  std::string name_;
  gpu::mig::ProfileByModel profiles_;
  std::vector<std::string> reasons_;
};

}  // namespace

std::unique_ptr<NodeFilter> make_mig_check(const gpu::Demand& demand) {
  return std::make_unique<MigCheck>(demand);
}

}  // namespace plugins
