#include "tests/plugins/gpu_node.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/product.h"

#include <memory>
#include <utility>

namespace tests {

using namespace sched;

std::ostream& operator<<(std::ostream& out, const Scored& scored) {
  return out << scored.score << " on device " << scored.device;
}

GpuNode::GpuNode(std::int64_t free_cpu, const std::vector<std::int32_t>& free_devices) {
  facts_.name = "n";
  facts_.allocatable.set(kCpu, free_cpu);
  facts_.allocatable.set(kNvidiaGpu, static_cast<std::int64_t>(free_devices.size()));
  facts_.gpu.gpus = static_cast<std::int64_t>(free_devices.size());
  facts_.gpu_devices = static_cast<std::int64_t>(free_devices.size());
  for (const std::int32_t free : free_devices) {
    usage_.devices.push_back({.milli = static_cast<std::int32_t>(gpu::kMilliPerGpu) - free});
  }
}

GpuNode& GpuNode::named(std::string_view name) {
  facts_.name = name;
  return *this;
}

GpuNode& GpuNode::memory(std::int64_t mebibytes) {
  facts_.allocatable.set(kMemory, mebibytes * 1024 * 1024);
  return *this;
}

GpuNode& GpuNode::product(std::string_view product) {
  facts_.gpu.product = gpu::parse_product(product).product;
  return *this;
}

GpuNode& GpuNode::holds(gpu::SizeClass size, std::uint32_t pods) {
  usage_.gpu_pods[static_cast<std::size_t>(size)] = pods;
  return *this;
}

Scored GpuNode::ask(const ScorePlugin& plugin, const k8s::Pod& pod,
                    const ClusterContext& context) const {
  ResourceNames names;
  const PodShape shape = shape_of(pod, names);
  ClusterContext apart = context;
  apart.devices_apart = true;
  const auto prepared = plugin.prepare(
      shape, {.resources = names, .cluster = std::make_shared<const ClusterContext>(apart)});
  if (!prepared) return {.score = -1, .device = -1};
  const auto choice = prepared->choose_device(view());
  return {.score = prepared->score(view()),
          .device = choice ? static_cast<int>(choice->device) : -1};
}

k8s::Pod cpu_pod(std::int64_t cpu) { return pod("a").cpu(std::to_string(cpu) + "m"); }

k8s::Pod gpu_pod(std::int64_t cpu, std::int64_t gpus) {
  return pod("a").cpu(std::to_string(cpu) + "m").gpus(gpus);
}

k8s::Pod share_pod(std::int64_t cpu, std::int64_t milli) {
  return pod("a")
      .cpu(std::to_string(cpu) + "m")
      .requests(gpu::kMilliResource, std::to_string(milli));
}

TypicalPod kind(std::uint64_t count, std::int64_t cpu, std::int64_t gpus, std::int64_t milli,
                std::vector<std::string> products) {
  return {
      .cpu = cpu, .gpus = gpus, .milli = milli, .products = std::move(products), .count = count};
}

ClusterContext workload(std::vector<TypicalPod> pods) {
  ClusterContext context;
  context.devices_apart = true;
  context.pods = std::move(pods);
  for (const TypicalPod& pod : context.pods) context.pods_seen += pod.count;
  return context;
}

}  // namespace tests
