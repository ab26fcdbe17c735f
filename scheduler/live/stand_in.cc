#include "scheduler/live/stand_in.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace sched::live {

namespace {

// More than any node has, and small enough for sums of thousands, also in the units of quotas.
k8s::Quantity beyond_any_node(std::string_view resource) {
  const bool is_bytes =
      resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  return k8s::Quantity::of(is_bytes ? 1'000'000'000'000'000 : 1'000'000);
}

}  // namespace

std::optional<k8s::Pod> stand_in_for_pod(k8s::Pod partial) {
  if (partial.spec.node_name.empty()) return std::nullopt;
  std::set<std::string> names = {"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"};
  for (const auto* containers : {&partial.spec.containers, &partial.spec.init_containers}) {
    for (const k8s::Container& container : *containers) {
      for (const auto& [name, amount] : container.requests) names.insert(name);
    }
  }
  k8s::Pod stands_in;
  stands_in.metadata = std::move(partial.metadata);
  stands_in.spec.scheduler_name = std::move(partial.spec.scheduler_name);
  stands_in.spec.node_name = std::move(partial.spec.node_name);
  k8s::Container& all = stands_in.spec.containers.emplace_back();
  for (const std::string& name : names) all.requests.emplace_back(name, beyond_any_node(name));
  return stands_in;
}

std::optional<k8s::Node> stand_in_for_node(k8s::Node partial) {
  partial.spec.unschedulable = true;
  partial.status.allocatable.clear();
  return partial;
}

std::optional<k8s::GpuQuota> stand_in_for_quota(k8s::GpuQuota partial) {
  partial.spec.order = k8s::GpuQuota::Order::kUnknown;
  return partial;
}

}  // namespace sched::live
