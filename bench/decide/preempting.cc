#include "bench/decide/preempting.h"

#include "bench/decide/cluster.h"
#include "bench/decide/kinds.h"
#include "bench/replay/run/cpu_clock.h"
#include "scheduler/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

namespace bench::decide {
namespace {

constexpr std::int32_t kLow = 0;
constexpr std::int32_t kHigh = 1'000;
constexpr std::int32_t kStays = 1'000'000'000;
constexpr const char* kZone = "topology.kubernetes.io/zone";

k8s::Pod pod_of(std::int64_t gpus, std::int32_t priority) {
  k8s::Pod pod = gpu_pod(gpus);
  pod.metadata.labels.set("color", "blue");
  pod.metadata.owner_references.push_back(
      {.api_version = "batch/v1", .kind = "Job", .name = "j", .uid = "j", .controller = true});
  pod.spec.priority = priority;
  return pod;
}

k8s::Pod preemptor_of(std::string_view name) {
  k8s::Pod pod = pod_of(name == "in-vain" ? 8 : 3, name == "reclaims" ? kLow : kHigh);
  if (name == "apart") {
    k8s::PodAffinityTerm& term = pod.spec.pod_anti_affinity.emplace().required.emplace_back();
    term.label_selector.emplace().match_labels.set("color", "red");
    term.topology_key = "kubernetes.io/hostname";
  }
  if (name != "spread") return pod;
  k8s::TopologySpreadConstraint& rule = pod.spec.topology_spread_constraints.emplace_back();
  rule.topology_key = kZone;
  rule.max_skew = 1'000'000;
  rule.label_selector.emplace().match_labels.set("color", "blue");
  return pod;
}

}  // namespace

PreemptingFigures run_preempting(std::vector<sched::Profile> profiles, sched::EngineOptions options,
                                 std::size_t preemptor, std::size_t nodes, std::size_t pods) {
  const k8s::Pod asked = preemptor_of(kPreemptors[preemptor].name);
  const bool reclaims = asked.spec.priority == kLow;
  profiles.front().preemption = sched::Preemption{};
  if (reclaims) profiles.front().preemption->reclaims = sched::Preemption::Reclaims::kAny;
  sched::Engine engine(std::move(profiles), std::move(options));
  sched::Time now{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
  std::size_t number = 0;
  if (reclaims) {
    const auto all = static_cast<std::int64_t>(8 * nodes);
    engine.apply(sched::event::QuotaUpserted{quota_of("team-a", all)}, now);
    engine.apply(sched::event::QuotaUpserted{quota_of("team-b", 0)}, now);
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    engine.apply(sched::event::NodeUpserted{node(i)}, now);
    for (std::int64_t gpu = 0; gpu < kGroups[group_of(i)].gpus; ++gpu) {
      const bool stays = gpu == 0;
      k8s::Pod there = numbered(pod_of(1, stays || reclaims ? kStays : kLow), ++number);
      if (reclaims && !stays) there.metadata.namespace_ = "team-b";
      there.spec.node_name = node(i).metadata.name;
      engine.apply(sched::event::PodUpserted{std::move(there)}, now);
    }
  }
  engine.apply(sched::event::Synced{}, now);
  while (engine.step(now)) {
  }

  PreemptingFigures figures;
  for (std::size_t i = 0; i < pods; ++i) {
    // So that a search in vain is not known already, and there is time for each.
    now += std::chrono::seconds(10);
    engine.apply(sched::event::NodeUpserted{node(0)}, now);
    k8s::Pod pod = numbered(asked, ++number);
    pod.spec.priority += static_cast<std::int32_t>(i);
    engine.apply(sched::event::PodUpserted{pod}, now);
    const double began = replay::cpu_seconds();
    while (const auto decision = engine.step(now)) {
      const auto* evict = std::get_if<sched::decision::Evict>(&*decision);
      if (evict == nullptr) continue;
      ++figures.found;
      figures.evicted += evict->victims.size();
    }
    const double took = replay::cpu_seconds() - began;
    figures.cpu_seconds += took;
    figures.longest_seconds = std::max(figures.longest_seconds, took);
    engine.apply(sched::event::PodDeleted{{"team-a", pod.metadata.name, pod.metadata.uid}}, now);
  }
  return figures;
}

}  // namespace bench::decide
