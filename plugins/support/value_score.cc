#include "plugins/support/value_score.h"

#include <algorithm>

namespace plugins {

using namespace sched;

namespace {

constexpr auto kWhole = static_cast<std::int32_t>(gpu::kMilliPerGpu);

// Whether an earlier device has as much left: then its answer is known.
bool seen_before(const FreeDevices& free, std::size_t device) {
  return std::find(free.begin(), free.begin() + device, free[device]) != free.begin() + device;
}

// What is free beside the GPUs of a node, without and with the pod.
struct Host {
  FreeHost before;
  FreeHost after;
};

Host host_of(const NodeView& node, const GpuAsk& ask) {
  constexpr int kMebibyte = 20;  // as a power of two
  const std::int64_t cpu = node.free(kCpu);
  const std::int64_t memory = node.free(kMemory);
  return {.before = {.cpu = cpu, .memory = memory >> kMebibyte},
          .after = {.cpu = saturating_subtract(cpu, ask.cpu),
                    .memory = saturating_subtract(memory, ask.memory) >> kMebibyte}};
}

}  // namespace

std::int64_t ValueScore::score(const NodeView& node) const { return best(node).rating; }

std::optional<gpu::DeviceShare> ValueScore::choose_device(const NodeView& node) const {
  if (!ask_.is_share()) return std::nullopt;
  const Best found = best(node);
  if (!found.device) return std::nullopt;
  return gpu::DeviceShare{.device = static_cast<std::uint32_t>(*found.device),
                          .milli = static_cast<std::int32_t>(ask_.milli)};
}

ValueScore::Best ValueScore::best(const NodeView& node) const {
  if (node.facts.gpu_devices == 0) return {.rating = rate_whole(node), .device = std::nullopt};
  FreeDevices free = free_devices(node);
  const ProductValue& value = value_->on(node.facts.gpu.product);
  const Host host = host_of(node, ask_);
  const std::int64_t before = value.of(host.before, free);
  if (ask_.is_share()) return best_device(value, before, host.after, free);
  take_whole(free);
  return {.rating = rate(before - value.of(host.after, free), host.after.cpu),
          .device = std::nullopt};
}

std::int64_t ValueScore::rate_whole(const NodeView& node) const {
  const ProductValue& value = value_->on(node.facts.gpu.product);
  const std::int64_t free = whole_devices(node);
  const std::int64_t taken = std::min(free, ask_.is_share() ? 0 : ask_.gpus);
  const Host host = host_of(node, ask_);
  const bool has_gpus = node.facts.gpu.is_gpu_node();
  return rate(value.of_whole(host.before, free) - value.of_whole(host.after, free - taken),
              has_gpus ? host.after.cpu : 0);
}

ValueScore::Best ValueScore::best_device(const ProductValue& value, std::int64_t before,
                                         const FreeHost& after, FreeDevices& free) const {
  Best best;
  for (std::size_t device = 0; device < free.size(); ++device) {
    if (free[device] < ask_.milli || seen_before(free, device)) continue;
    free.take(device, ask_.milli);
    const std::int64_t rating = rate(before - value.of(after, free), after.cpu);
    free.take(device, -ask_.milli);
    if (!best.device || rating > best.rating) best = {.rating = rating, .device = device};
  }
  return best;
}

void ValueScore::take_whole(FreeDevices& free) const {
  std::int64_t left = ask_.gpus;
  for (std::size_t device = 0; device < free.size() && left > 0; ++device) {
    if (free[device] < kWhole) continue;
    free.take(device, kWhole);
    --left;
  }
}

}  // namespace plugins
