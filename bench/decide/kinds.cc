#include "bench/decide/kinds.h"

#include "scheduler/gpu/demand.h"

#include <fmt/format.h>

#include <utility>

namespace bench::decide {

namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

struct Pattern {
  std::int64_t gpus = 0;
  std::int64_t cores = 0;
  std::int64_t gib = 0;
  std::uint64_t weight = 1;
  std::vector<Group> groups;  // empty: any with GPU
  bool prefers_zone = false;
};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> kPatterns = {
      {.gpus = 1, .cores = 8, .gib = 40, .weight = 8, .groups = {}},
      {.gpus = 8, .cores = 96, .gib = 960, .weight = 2, .groups = {kH100}},
      {.gpus = 1, .cores = 4, .gib = 16, .weight = 4, .groups = {kL4}},
      {.gpus = 2, .cores = 16, .gib = 160, .weight = 4, .groups = {kH100, kA100}},
      {.gpus = 0, .cores = 4, .gib = 16, .weight = 4, .groups = {kNoGpu}},
      {.gpus = 4, .cores = 48, .gib = 480, .weight = 2, .groups = {kH100}},
      {.gpus = 1, .cores = 4, .gib = 16, .weight = 4, .groups = {kT4}},
      {.gpus = 1, .cores = 12, .gib = 96, .weight = 4, .groups = {kA100}},
      {.gpus = 0, .cores = 8, .gib = 32, .weight = 2, .groups = {kNoGpu}},
      {.gpus = 1, .cores = 2, .gib = 8, .weight = 8, .groups = {}, .prefers_zone = true},
  };
  return kPatterns;
}

k8s::Pod pod_of(const Pattern& pattern, std::size_t variant) {
  k8s::Pod pod;
  pod.metadata.namespace_ = "team-a";
  pod.metadata.labels.set("app.kubernetes.io/name", "train");
  pod.metadata.labels.set("batch.kubernetes.io/job-name", fmt::format("train-{}", variant));
  pod.spec.scheduler_name = kSchedulerName;
  pod.spec.priority_class_name = "batch";
  k8s::Container& container = pod.spec.containers.emplace_back();
  container.name = "main";
  container.image = "registry.example.com/ml/train:2024.10";
  const auto more = static_cast<std::int64_t>(variant);
  container.requests.emplace_back("cpu",
                                  k8s::Quantity::of_milli(pattern.cores * 1'000 + more * 50));
  container.requests.emplace_back("memory",
                                  k8s::Quantity::of(pattern.gib * kGiB + more * kGiB / 8));
  if (pattern.gpus > 0) {
    container.requests.emplace_back("nvidia.com/gpu", k8s::Quantity::of(pattern.gpus));
    container.limits = container.requests;
    pod.spec.tolerations.push_back({"nvidia.com/gpu", k8s::TolerationOperator::kExists, "", {}});
  }
  return pod;
}

void select_products(k8s::Pod& pod, const std::vector<Group>& groups) {
  if (groups.size() == 1) {
    pod.spec.node_selector.set(sched::gpu::kProductLabel, kGroups[groups.front()].product);
    return;
  }
  k8s::SelectorRequirement one_of;
  one_of.key = sched::gpu::kProductLabel;
  one_of.op = k8s::SelectorOperator::kIn;
  for (const Group group : groups) one_of.values.emplace_back(kGroups[group].product);
  k8s::NodeSelectorTerm term;
  term.match_expressions.push_back(std::move(one_of));
  pod.spec.node_affinity.emplace().required.emplace().terms.push_back(std::move(term));
}

void prefer_zone(k8s::Pod& pod) {
  k8s::SelectorRequirement zone;
  zone.key = "topology.kubernetes.io/zone";
  zone.op = k8s::SelectorOperator::kIn;
  zone.values = {"europe-west4-b"};
  k8s::PreferredNodeTerm preferred;
  preferred.weight = 50;
  preferred.preference.match_expressions.push_back(std::move(zone));
  pod.spec.node_affinity.emplace().preferred.push_back(std::move(preferred));
}

Kind kind_of(const Pattern& pattern, std::size_t variant) {
  Kind kind;
  kind.pod = pod_of(pattern, variant);
  kind.weight = pattern.weight;
  kind.groups = pattern.groups;
  if (pattern.gpus == 0) {
    kind.amount = kind.pod.spec.containers.front().requests.front().second.milli_value();
    return kind;
  }
  kind.amount = pattern.gpus;
  if (kind.groups.empty()) {
    kind.groups = {kH100, kA100, kL4, kT4};
  } else {
    select_products(kind.pod, kind.groups);
  }
  if (pattern.prefers_zone) prefer_zone(kind.pod);
  return kind;
}

}  // namespace

std::vector<Kind> kinds(std::size_t count) {
  std::vector<Kind> kinds;
  for (std::size_t i = 0; i < count; ++i) {
    kinds.push_back(kind_of(patterns()[i % patterns().size()], i / patterns().size()));
  }
  return kinds;
}

k8s::Pod unfit_pod(std::size_t index) {
  return pod_of({.gpus = 16, .cores = 96, .gib = 960, .weight = 1, .groups = {}}, index);
}

k8s::Pod over_quota_pod(std::size_t index) {
  k8s::Pod pod = pod_of({.gpus = 1, .cores = 8, .gib = 64, .weight = 1, .groups = {}}, index);
  pod.metadata.namespace_ = kQuotaNamespace;
  return pod;
}

std::string team(std::size_t number) { return fmt::format("team-{:04}", number); }

k8s::Pod team_pod(std::size_t team_number, std::size_t index) {
  k8s::Pod pod = over_quota_pod(index);
  pod.metadata.namespace_ = team(team_number);
  return pod;
}

std::size_t number_of(const std::string& uid) {
  return std::stoull(uid.substr(uid.rfind('-') + 1), nullptr, 16);
}

std::string uid_of(std::size_t number) {
  return fmt::format("{:08x}-5d0c-4b6e-9f1a-{:012x}", number * 2'654'435'761U & 0xffff'ffffU,
                     number);
}

k8s::Pod gpu_pod(std::int64_t gpus) {
  k8s::Pod pod;
  pod.metadata.namespace_ = "team-a";
  pod.spec.scheduler_name = kSchedulerName;
  k8s::Container& container = pod.spec.containers.emplace_back();
  container.name = "main";
  container.image = "registry.k8s.io/pause:3.10";
  container.requests.emplace_back("cpu", k8s::Quantity::of(1));
  container.requests.emplace_back("nvidia.com/gpu", k8s::Quantity::of(gpus));
  pod.spec.tolerations.push_back({"", k8s::TolerationOperator::kExists, "", {}});
  return pod;
}

k8s::GpuQuota quota_of(const std::string& namespace_, std::int64_t guaranteed) {
  k8s::GpuQuota quota;
  quota.metadata.name = namespace_;
  quota.spec.namespaces.push_back(namespace_);
  quota.spec.cohort = "all";
  quota.spec.quotas.push_back({.gpu_type = "*",
                               .guaranteed = k8s::Quantity::of(guaranteed),
                               .limit = std::nullopt,
                               .lendable = std::nullopt});
  return quota;
}

k8s::Pod numbered(const k8s::Pod& pod, std::size_t number) {
  k8s::Pod named = pod;
  named.metadata.name = fmt::format("train-{:09}-0", number);
  named.metadata.uid = uid_of(number);
  return named;
}

}  // namespace bench::decide
