#include "bench/decide/cluster.h"

#include "scheduler/gpu/demand.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace bench::decide {

namespace {

constexpr std::size_t kCycle = 20;  // nodes until the groups repeat
constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr std::string_view kNamePrefix = "gke-train-pool-";

// The group of each of twenty nodes: every group is spread over them as evenly as possible.
constexpr std::array<Group, kCycle> kPattern = [] {
  std::array<Group, kCycle> pattern{};
  std::array<std::size_t, kGroups.size()> placed{};
  for (std::size_t at = 0; at < kCycle; ++at) {
    // The group that is furthest behind its share.
    std::size_t next = 0;
    auto behind = [&](std::size_t group) {
      return static_cast<std::ptrdiff_t>(kGroups[group].share * (at + 1)) -
             static_cast<std::ptrdiff_t>(placed[group] * kCycle);
    };
    for (std::size_t group = 1; group < kGroups.size(); ++group) {
      if (behind(group) > behind(next)) next = group;
    }
    ++placed[next];
    pattern[at] = static_cast<Group>(next);
  }
  return pattern;
}();

void add_labels(k8s::StringMap& labels, const std::string& name, std::size_t index,
                const NodeGroup& group) {
  labels.set("kubernetes.io/hostname", name);
  labels.set("kubernetes.io/arch", "amd64");
  labels.set("kubernetes.io/os", "linux");
  labels.set("node.kubernetes.io/instance-type", fmt::format("gpu-{}-{}", group.gpus, group.cores));
  labels.set("topology.kubernetes.io/region", "europe-west4");
  labels.set("topology.kubernetes.io/zone", fmt::format("europe-west4-{}", "abc"[index % 3]));
  if (group.gpus == 0) return;
  labels.set(sched::gpu::kProductLabel, group.product);
  labels.set("nvidia.com/gpu.present", "true");
  labels.set("nvidia.com/gpu.count", std::to_string(group.gpus));
  labels.set("nvidia.com/gpu.replicas", "1");
  labels.set("nvidia.com/gpu.memory", std::to_string(group.gpu_mib));
  labels.set("nvidia.com/gpu.family", std::string(group.family));
  labels.set("nvidia.com/cuda.driver.major", "550");
  labels.set("nvidia.com/mig.capable", "false");
}

}  // namespace

Group group_of(std::size_t index) { return kPattern[index % kCycle]; }

k8s::Node node(std::size_t index) {
  const NodeGroup& group = kGroups[group_of(index)];
  k8s::Node node;
  node.metadata.name = fmt::format("{}{:07}", kNamePrefix, index);
  add_labels(node.metadata.labels, node.metadata.name, index, group);
  if (group.tainted) {
    node.spec.taints.push_back({"nvidia.com/gpu", "present", k8s::TaintEffect::kNoSchedule});
  }
  const auto offer = [&](std::string_view resource, k8s::Quantity amount) {
    node.status.allocatable.emplace_back(resource, amount);
  };
  // Without what kubelet and the system reserve for themselves.
  offer("cpu", k8s::Quantity::of_milli(group.cores * 1'000 - 240));
  offer("ephemeral-storage", k8s::Quantity::of(900 * kGiB));
  offer("hugepages-1Gi", k8s::Quantity::of(0));
  offer("hugepages-2Mi", k8s::Quantity::of(0));
  offer("memory", k8s::Quantity::of((group.gib - 4) * kGiB));
  offer("pods", k8s::Quantity::of(110));
  if (group.gpus > 0) offer("nvidia.com/gpu", k8s::Quantity::of(group.gpus));
  node.status.conditions.push_back({"Ready", "True", "KubeletReady"});
  return node;
}

std::size_t index_of(std::string_view name) {
  std::size_t index = 0;
  name.remove_prefix(kNamePrefix.size());
  std::from_chars(name.data(), name.data() + name.size(), index);
  return index;
}

}  // namespace bench::decide
