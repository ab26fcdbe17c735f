#include "bench/replay/trace/objects.h"

#include "bench/replay/trace/gpu_amounts.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/devices.h"

namespace bench::replay {
namespace {

constexpr std::int64_t kPodsPerNode = 1'000'000;

void add_gpus(k8s::ResourceList& list, std::int64_t gpus, std::int64_t milli) {
  if (gpus == 0) return;
  if (milli == sched::gpu::kMilliPerGpu) {
    list.emplace_back(kGpuResource, k8s::Quantity::of(gpus));
  }
  list.emplace_back(sched::gpu::kMilliResource, k8s::Quantity::of(gpus * milli));
}

k8s::NodeAffinity on_products(const std::vector<std::string>& products) {
  k8s::NodeSelectorTerm term;
  term.match_expressions.push_back({.key = std::string(sched::gpu::kProductLabel),
                                    .op = k8s::SelectorOperator::kIn,
                                    .values = products});
  k8s::NodeSelector selector;
  selector.terms.push_back(std::move(term));
  k8s::NodeAffinity affinity;
  affinity.required = std::move(selector);
  return affinity;
}

}  // namespace

k8s::Node node_object(const NodeRow& row) {
  k8s::Node node;
  node.metadata.name = row.name;
  node.metadata.uid = row.name;
  node.metadata.labels.set("kubernetes.io/hostname", row.name);
  if (!row.gpu_model.empty()) {
    node.metadata.labels.set(sched::gpu::kProductLabel, row.gpu_model);
  }
  for (const auto& [key, value] : row.labels) node.metadata.labels.set(key, value);
  k8s::ResourceList& allocatable = node.status.allocatable;
  allocatable.emplace_back("cpu", row.cpu);
  allocatable.emplace_back("memory", row.memory);
  allocatable.emplace_back("pods", k8s::Quantity::of(kPodsPerNode));
  add_gpus(allocatable, row.gpus, sched::gpu::kMilliPerGpu);
  allocatable.insert(allocatable.end(), row.resources.begin(), row.resources.end());
  node.status.conditions.push_back({.type = "Ready", .status = "True", .reason = "KubeletReady"});
  return node;
}

k8s::Pod pod_object(const PodRow& row) {
  k8s::Pod pod;
  pod.metadata.namespace_ = row.namespace_;
  pod.metadata.name = row.name;
  pod.metadata.uid = row.namespace_ + "/" + row.name;
  pod.spec.priority = row.priority;
  k8s::Container container;
  container.name = "main";
  container.requests.emplace_back("cpu", row.cpu);
  container.requests.emplace_back("memory", row.memory);
  add_gpus(container.requests, row.gpus, row.milli);
  container.requests.insert(container.requests.end(), row.resources.begin(), row.resources.end());
  container.limits = container.requests;
  pod.spec.containers.push_back(std::move(container));
  if (!row.gpu_models.empty()) pod.spec.node_affinity = on_products(row.gpu_models);
  return pod;
}

}  // namespace bench::replay
