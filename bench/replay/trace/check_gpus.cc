#include "bench/replay/trace/check_gpus.h"

#include "bench/replay/trace/gpu_amounts.h"
#include "scheduler/framework/pod_shape.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace bench::replay {
namespace {

// Of a node or pod, with every replica of a shared GPU as one.
constexpr std::int64_t kMostGpus = 10'000;

bool is_mig(std::string_view resource) {
  return resource.starts_with(sched::gpu::kMigResourcePrefix);
}

bool is_gpu(std::string_view resource) {
  return resource == kGpuResource || resource == sched::gpu::kMilliResource || is_mig(resource);
}

// What is wrong, in words.
using Fault = std::optional<std::string>;

Fault fault_of(const k8s::Node& node, bool devices_apart) {
  const std::int64_t gpus = gpus_of(node);
  if (gpus < 0 || gpus > kMostGpus) {
    return fmt::format("nvidia.com/gpu is {}: want 0 to {}", gpus, kMostGpus);
  }
  constexpr auto kMostApart = static_cast<std::int64_t>(sched::gpu::kMaxDevices);
  if (devices_apart && gpus > kMostApart) {
    return fmt::format(
        "{} GPUs: since pods ask for parts of GPUs they are kept one by one, {} of a node at most",
        gpus, kMostApart);
  }
  return std::nullopt;
}

k8s::Result<void> check_node(const k8s::Node& node, bool devices_apart) {
  const Fault fault = fault_of(node, devices_apart);
  if (!fault) return {};
  return k8s::decode_error(fmt::format("Node \"{}\": {}", node.metadata.name, *fault));
}

Fault negative_amount(const std::vector<k8s::Container>& containers) {
  for (const k8s::Container& container : containers) {
    for (const auto* list : {&container.requests, &container.limits}) {
      for (const auto& [name, quantity] : *list) {
        if (is_gpu(name) && quantity < k8s::Quantity()) return name + " is negative";
      }
    }
  }
  return std::nullopt;
}

// A pod's requests for everything that is GPU.
struct Asked {
  std::int64_t gpus = 0;
  std::int64_t milli = 0;
  std::int64_t most = 0;  // of any GPU or MIG resource
};

Asked asked_by(const k8s::Pod& pod, sched::ResourceNames& names) {
  Asked asked;
  for (const auto& [resource, amount] : sched::shape_of(pod, names).requests) {
    const std::string& name = names.name(resource);
    if (!is_gpu(name) || amount == 0) continue;
    if (name == sched::gpu::kMilliResource) {
      asked.milli = amount;
      continue;
    }
    if (name == kGpuResource) asked.gpus = amount;
    asked.most = std::max(asked.most, amount);
  }
  return asked;
}

Fault fault_of(const k8s::Pod& pod, sched::ResourceNames& names) {
  if (auto fault = negative_amount(pod.spec.init_containers)) return fault;
  if (auto fault = negative_amount(pod.spec.containers)) return fault;
  const Asked asked = asked_by(pod, names);
  if (asked.most > kMostGpus) {
    return fmt::format("asks for {} GPUs or MIG instances: want at most {}", asked.most, kMostGpus);
  }
  if (asked.gpus == 0 && asked.milli >= sched::gpu::kMilliPerGpu) {
    return fmt::format("{} is {}: a share of a GPU is 1 to 999, whole ones are {}",
                       sched::gpu::kMilliResource, asked.milli, kGpuResource);
  }
  return std::nullopt;
}

}  // namespace

k8s::Result<void> check_gpus(const k8s::Node& node) { return check_node(node, false); }

k8s::Result<void> check_gpus(const Trace& trace) {
  for (const k8s::Node& node : trace.nodes) {
    if (auto done = check_node(node, trace.devices_apart); !done) return done;
  }
  sched::ResourceNames names;
  for (const TracePod& pod : trace.pods) {
    if (const Fault fault = fault_of(pod.pod, names)) {
      const k8s::ObjectMeta& metadata = pod.pod.metadata;
      return k8s::decode_error(
          fmt::format("Pod \"{}/{}\": {}", metadata.namespace_, metadata.name, *fault));
    }
  }
  return {};
}

}  // namespace bench::replay
