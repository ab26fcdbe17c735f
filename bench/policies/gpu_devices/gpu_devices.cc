#include "bench/policies/gpu_devices/gpu_devices.h"

#include "bench/devices/choose.h"
#include "plugins/support/one_reason.h"
#include "scheduler/framework/free_devices.h"

#include <algorithm>
#include <string>

namespace bench {

namespace {

using namespace plugins;
using namespace sched;

std::string reason_of(const gpu::Demand& demand) {
  if (demand.is_share()) return "node(s) had no GPU with enough of it free";
  return "node(s) had too few GPUs wholly free";
}

class Check final : public OneReasonFilter {
 public:
  explicit Check(gpu::Demand demand)
      : OneReasonFilter(reason_of(demand)), demand_(std::move(demand)) {}

  Verdict check(const NodeView& node) const override {
    // Pieces of shared GPUs, and instances under the strategy single, are only counted.
    const bool counted = node.facts.gpu_devices == 0 && !demand_.is_share();
    if (counted && node.facts.gpu.piece != gpu::GpuPiece::kWholeGpu) return Verdict::ok();
    return fits_devices(demand_, node_devices(node)) ? Verdict::ok()
                                                     : Verdict::unschedulable(kTheReason);
  }

  std::string numbers(const NodeView& node, unsigned) const override {
    const FreeDevices free = free_devices(node);
    if (demand_.is_share()) {
      const std::int32_t most = free.size() == 0 ? 0 : *std::max_element(free.begin(), free.end());
      return "asked " + std::to_string(demand_.milli) + " thousandths of a GPU, at most " +
             std::to_string(most) + " free on one of " + std::to_string(free.size());
    }
    const auto whole = std::count(free.begin(), free.end(), gpu::kMilliPerGpu);
    return "asked " + std::to_string(demand_.gpus) + " whole GPUs, " + std::to_string(whole) +
           " of " + std::to_string(free.size()) + " wholly free";
  }

 private:
  gpu::Demand demand_;
};

class GpuDevices final : public FilterPlugin {
 public:
  std::string_view name() const override { return "GpuDevices"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext& context) const override {
    FilterPreparation preparation;
    if (!context.cluster->devices_apart || shape.gpu.is_none()) return preparation;
    if (shape.gpu.has_instances()) {
      preparation.filter = make_mig_check(shape.gpu);
    } else {
      preparation.filter = std::make_unique<Check>(shape.gpu);
    }
    return preparation;
  }
};

}  // namespace

PluginInstance make_gpu_devices(k8s::yaml::ObjectReader&) {
  return {.filter = std::make_unique<GpuDevices>()};
}

}  // namespace bench
