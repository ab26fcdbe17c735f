#include "bench/decide/grouped.h"

#include "bench/decide/cluster.h"
#include "bench/decide/kinds.h"
#include "bench/replay/run/cpu_clock.h"
#include "scheduler/engine/engine.h"
#include "scheduler/gpu/wishes.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace bench::decide {
namespace {

constexpr std::int64_t kWholeNode = 8;

k8s::Pod member_of(const GroupKind& kind) {
  k8s::Pod pod = gpu_pod(kind.apart ? 1 : kWholeNode);
  pod.metadata.labels.set("job", "train");
  pod.metadata.annotations.set(std::string(sched::gpu::kPodGroupAnnotation), "train");
  pod.metadata.annotations.set(std::string(sched::gpu::kMinCountAnnotation),
                               std::to_string(kind.pods));
  if (!kind.apart) return pod;
  k8s::PodAffinityTerm& term = pod.spec.pod_anti_affinity.emplace().required.emplace_back();
  term.label_selector.emplace().match_labels.set("job", "train");
  term.topology_key = "kubernetes.io/hostname";
  return pod;
}

}  // namespace

GroupedFigures run_grouped(std::vector<sched::Profile> profiles, sched::EngineOptions options,
                           std::size_t kind, std::size_t nodes, std::size_t groups) {
  const GroupKind& group = kGroupKinds[kind];
  sched::Engine engine(std::move(profiles), std::move(options));
  sched::Time now{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
  std::size_t number = 0;
  std::size_t free = 0;
  for (std::size_t i = 0; i < nodes; ++i) {
    engine.apply(sched::event::NodeUpserted{node(i)}, now);
    if (!group.in_vain || kGroups[group_of(i)].gpus < kWholeNode) continue;
    if (++free < group.pods) continue;
    k8s::Pod there = numbered(gpu_pod(kWholeNode), ++number);
    there.spec.node_name = node(i).metadata.name;
    engine.apply(sched::event::PodUpserted{std::move(there)}, now);
  }
  engine.apply(sched::event::Synced{}, now);
  while (engine.step(now)) {
  }

  GroupedFigures figures;
  const k8s::Pod asked = member_of(group);
  for (std::size_t i = 0; i < groups; ++i) {
    now += std::chrono::seconds(10);
    std::vector<k8s::Pod> pods;
    for (std::size_t j = 0; j < group.pods; ++j) pods.push_back(numbered(asked, ++number));
    for (const k8s::Pod& pod : pods) engine.apply(sched::event::PodUpserted{pod}, now);
    const double began = replay::cpu_seconds();
    while (const auto decision = engine.step(now)) {
      if (std::holds_alternative<sched::decision::Bind>(*decision)) ++figures.bound;
    }
    const double took = replay::cpu_seconds() - began;
    figures.cpu_seconds += took;
    figures.longest_seconds = std::max(figures.longest_seconds, took);
    for (const k8s::Pod& pod : pods) {
      engine.apply(sched::event::PodDeleted{{"team-a", pod.metadata.name, pod.metadata.uid}}, now);
    }
  }
  return figures;
}

}  // namespace bench::decide
