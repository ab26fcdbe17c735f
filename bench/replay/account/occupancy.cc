#include "bench/replay/account/occupancy.h"

#include "bench/devices/choose.h"
#include "scheduler/gpu/product.h"

#include <algorithm>

namespace bench::replay {

std::int32_t Occupancy::Node::taken_of(std::size_t device) const {
  if (device >= devices.size()) return 0;
  const sched::gpu::DeviceUse& use = devices[device];
  return static_cast<std::int32_t>(gpu_milli_of(use.milli, use.slices, slices));
}

void Occupancy::upsert_node(const sched::NodeFacts& facts) {
  const auto [found, is_new] = by_name_.try_emplace(facts.name, nodes_.size());
  if (is_new) nodes_.emplace_back().name = facts.name;
  Node& node = nodes_[found->second];
  discount(node);
  node.present = true;
  node.product = facts.gpu.product.name;
  node.product_id = fragmentation_.product_id(facts.gpu.product.name);
  node.slices = slices_of(facts.gpu.product.name);
  node.gpus = std::max<std::int64_t>(facts.allocatable.get(sched::kNvidiaGpu), 0);
  node.cpu_milli = facts.allocatable.get(sched::kCpu);
  count(node);
}

void Occupancy::erase_node(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  Node& node = nodes_[found->second];
  discount(node);
  node.present = false;
  count(node);
}

std::optional<Occupancy::Place> Occupancy::take(
    const std::string& name, const KindOfPod& pod,
    const std::vector<sched::gpu::DeviceShare>& devices) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  Node& node = nodes_[found->second];
  Place place{.node = found->second,
              .devices = devices,
              .cpu_milli = pod.cpu_milli,
              .gpu_milli = pod.gpu_milli};
  if (devices.empty() && !pod.gpu.is_none()) {
    const auto count = std::min<std::int64_t>(node.gpus, sched::gpu::kMaxDevices);
    const NodeDevices there{node.devices, count, sched::gpu::geometry_of(node.product)};
    place.devices = choose_devices(pod.gpu, there).value_or(place.devices);
  }
  if (pod.gpu.has_instances() && !place.devices.empty()) {
    place.gpu_milli = 0;
    for (const auto& share : place.devices) {
      place.gpu_milli += gpu_milli_of(share.milli, share.slices, node.slices);
    }
  }
  discount(node);
  for (const auto& share : place.devices) sched::gpu::add(node.devices, share);
  node.cpu_taken += place.cpu_milli;
  node.gpu_taken += place.gpu_milli;
  count(node);
  return place;
}

void Occupancy::give_back(const Place& place) {
  Node& node = nodes_[place.node];
  discount(node);
  for (const auto& share : place.devices) sched::gpu::subtract(node.devices, share);
  node.cpu_taken -= place.cpu_milli;
  node.gpu_taken -= place.gpu_milli;
  count(node);
}

void Occupancy::count(Node& node) {
  node.free_by_cause = {};
  if (!node.present) return;
  capacity_ += node.capacity();
  taken_ += node.taken();
  free_.assign(static_cast<std::size_t>(node.gpus), sched::gpu::kMilliPerGpu);
  for (std::size_t i = 0; i < free_.size(); ++i) free_[i] -= node.taken_of(i);
  node.free_by_cause =
      fragmentation_.free_by_cause(node.product_id, node.cpu_milli - node.cpu_taken, free_);
  for (std::size_t i = 0; i < sched::kFreeGpuCauses; ++i)
    free_by_cause_[i] += node.free_by_cause[i];
}

void Occupancy::discount(Node& node) {
  if (!node.present) return;
  capacity_ -= node.capacity();
  taken_ -= node.taken();
  for (std::size_t i = 0; i < sched::kFreeGpuCauses; ++i)
    free_by_cause_[i] -= node.free_by_cause[i];
}

}  // namespace bench::replay
