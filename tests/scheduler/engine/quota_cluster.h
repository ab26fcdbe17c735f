// What the tests of GPU quotas through the engine share: a cluster, its nodes and pods.
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "plugins/registry.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <chrono>
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tests {

inline constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
inline constexpr const char* kL4 = "NVIDIA-L4";
inline constexpr const char* kType = "gpu-scheduler.io/gpu-type";

inline k8s::Node h100(std::string_view name) { return node(name).gpus(8).product(kH100).cpu("64"); }
inline k8s::Node l4(std::string_view name, int gpus = 4) {
  return node(name).gpus(gpus).product(kL4).cpu("64");
}
inline PodBuilder in(std::string_view namespace_, std::string_view name, int gpus) {
  return our_pod(name).in_namespace(namespace_).gpus(gpus);
}

// A constraint that ships.
struct ShippedRule {
  template <std::convertible_to<std::string_view> Name>
  ShippedRule(const Name& plugin, std::string_view its_args = {}) : name(plugin), args(its_args) {}
  std::string_view name;
  std::string_view args;  // YAML; empty: none
};

inline std::unique_ptr<sched::ClusterConstraint> shipped_constraint(const ShippedRule& shipped) {
  INFO(shipped.name);
  const sched::PluginEntry* entry = sched::find_plugin(plugins::registry(), shipped.name);
  REQUIRE(entry != nullptr);
  const auto documents = k8s::yaml::parse(shipped.args, "args.yaml");
  REQUIRE(documents);
  const k8s::yaml::Value none;
  k8s::yaml::ObjectReader args(documents->empty() ? none : documents->front(), "args.yaml");
  sched::PluginInstance made = entry->make(args);
  if (const auto wrong = args.finish()) FAIL(wrong->message);
  return std::move(made.constraint);
}

struct QuotaCluster : Scheduler {
  explicit QuotaCluster(sched::EngineOptions options = {}) : Scheduler(std::move(options)) {
    synced();
  }
  // With those constraints alone, and that tie-break.
  explicit QuotaCluster(const std::vector<ShippedRule>& constraints,
                        sched::TieBreak tie_break = {}) {
    std::vector<sched::Profile> with_them = profiles(&told_bound);
    with_them[0].constraints.clear();  // of which some are woken by whatever happens
    for (const ShippedRule& each : constraints) {
      with_them[0].constraints.emplace_back(shipped_constraint(each), true, 20);
    }
    with_them[0].tie_break = tie_break;
    engine = sched::Engine(std::move(with_them), {});
    synced();
  }
  using Scheduler::has;
  void has(const k8s::GpuQuota& quota) { apply(sched::event::QuotaUpserted{quota}); }
  void bound(k8s::Pod pod, const std::string& node) {
    pod.spec.node_name = node;
    has(pod);
  }
  k8s::GpuQuota::Use use(const std::string& quota, std::size_t line = 0) const {
    for (const sched::QuotaStatus& status : engine.quota_statuses()) {
      if (status.name == quota) return status.status.quotas.at(line).use;
    }
    FAIL("no such quota: " << quota);
    return {};
  }
};

inline k8s::GpuQuota::Use use(int guaranteed, int used, int borrowed = 0, int lent = 0,
                              int pending = 0) {
  return {.guaranteed = k8s::Quantity::of(guaranteed),
          .used = k8s::Quantity::of(used),
          .borrowed = k8s::Quantity::of(borrowed),
          .lent = k8s::Quantity::of(lent),
          .pending = k8s::Quantity::of(pending)};
}

}  // namespace tests
