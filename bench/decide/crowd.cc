#include "bench/decide/crowd.h"

#include "bench/decide/cluster.h"
#include "bench/decide/heap.h"
#include "bench/decide/kinds.h"
#include "bench/replay/run/cpu_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench::decide {
namespace {

constexpr const char* kZone = "topology.kubernetes.io/zone";

k8s::Pod pod_of(const char* team, std::int64_t milli_cpu) {
  k8s::Pod pod;
  pod.metadata.namespace_ = team;
  pod.spec.scheduler_name = kSchedulerName;
  k8s::Container& container = pod.spec.containers.emplace_back();
  container.name = "main";
  container.requests.emplace_back("cpu", k8s::Quantity::of_milli(milli_cpu));
  pod.spec.tolerations.push_back({"", k8s::TolerationOperator::kExists, "", {}});
  return pod;
}

k8s::PodAffinityTerm near_label(const std::string& value) {
  k8s::PodAffinityTerm term;
  term.label_selector.emplace().match_labels.set("app", value);
  term.topology_key = kZone;
  return term;
}

k8s::PodAffinityTerm near_namespaces(const std::string& value) {
  k8s::PodAffinityTerm term = near_label(value);
  term.namespace_selector.emplace().match_labels.set("team", value);
  return term;
}

constexpr std::int64_t kMoreThanAnyNode = 1'000'000;  // milli-CPU

class Run {
 public:
  Run(sched::Engine& engine, std::string_view crowd, std::size_t nodes)
      : engine_(engine), crowd_(crowd), nodes_(nodes) {
    for (std::size_t i = 0; i < nodes; ++i) tell(sched::event::NodeUpserted{node(i)});
    tell(sched::event::Synced{});
    while (mine_.size() < kNeighbours && neighbour_comes()) {
    }
  }

  // All of the crowd at once, and a pod of the neighbour. Returns CPU seconds until that is bound.
  double come(std::size_t pods) {
    for (std::size_t i = 0; i < pods; ++i) {
      k8s::Pod pod = member(i);
      if (restless() || crowd_ == "apart") pod.spec.node_name = node(i % nodes_).metadata.name;
      if (restless()) there_.push_back(pod);
      tell(sched::event::PodUpserted{std::move(pod)});
    }
    const double since = replay::cpu_seconds();
    neighbour_comes();
    const double behind = bound_at_ - since;
    decide();
    return behind;
  }

  // One of the neighbour's pods ends and another comes; true: it is bound.
  bool turn() {
    now_ += std::chrono::milliseconds(10);
    const k8s::ObjectMeta& gone = mine_.front().metadata;
    tell(sched::event::PodDeleted{{gone.namespace_, gone.name, gone.uid}});
    mine_.pop_front();
    decide();
    stir();
    return neighbour_comes();
  }

 private:
  static constexpr std::size_t kNeighbours = 10;

  bool neighbour_comes() {
    k8s::Pod pod = numbered(pod_of("neighbour", 500), ++number_);
    const std::string uid = pod.metadata.uid;
    tell(sched::event::PodUpserted{pod});
    const std::string on = decide(uid);
    if (on.empty()) return false;
    pod.spec.node_name = on;
    tell(sched::event::PodUpserted{pod});
    decide();
    mine_.push_back(std::move(pod));
    return true;
  }

  [[nodiscard]] bool restless() const { return crowd_ == "relabelled" || crowd_ == "nodes"; }

  k8s::Pod member(std::size_t i) {
    const bool waits = crowd_ == "alike" || crowd_ == "shapes";
    const std::int64_t more = crowd_ == "shapes" ? static_cast<std::int64_t>(i) : 0;
    k8s::Pod pod = numbered(pod_of("crowd", waits ? kMoreThanAnyNode + more : 1), ++number_);
    const std::string own = fmt::format("a{}", i);
    if (crowd_ == "labels") pod.spec.node_selector.set("own", own);
    if (crowd_ == "near") pod.spec.pod_affinity.emplace().required = {near_label(own)};
    if (crowd_ == "selectors") pod.spec.pod_affinity.emplace().required = {near_namespaces(own)};
    for (int term = 0; crowd_ == "apart" && term < 30; ++term) {
      if (term == 0) pod.spec.pod_anti_affinity.emplace();
      pod.spec.pod_anti_affinity->required.push_back(near_label(fmt::format("{}-{}", own, term)));
    }
    return pod;
  }

  void stir() {
    if (!restless()) return;
    const std::string value = fmt::format("v{}", ++stirred_);
    if (crowd_ == "nodes") {
      k8s::Node changed = node(stirred_ % nodes_);
      changed.metadata.labels.set("stirred", value);
      tell(sched::event::NodeUpserted{std::move(changed)});
    } else {
      k8s::Pod& changed = there_[stirred_ % there_.size()];
      changed.metadata.labels.set("stirred", value);
      tell(sched::event::PodUpserted{changed});
    }
    decide();
  }

  void tell(sched::Event event) { engine_.apply(std::move(event), now_); }

  // Runs the engine until it has no more decisions; returns where the pod of that uid is bound, if
  // it is.
  std::string decide(const std::string& uid = {}) {
    std::string on;
    while (auto decision = engine_.step(now_)) {
      const auto* bind = std::get_if<sched::decision::Bind>(&*decision);
      if (bind == nullptr || bind->pod.uid != uid) continue;
      on = bind->node;
      bound_at_ = replay::cpu_seconds();
      tell(sched::event::BindSucceeded{bind->pod, bind->node});
    }
    return on;
  }

  sched::Engine& engine_;
  std::string_view crowd_;
  std::size_t nodes_;
  sched::Time now_{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
  std::size_t number_ = 0;
  std::size_t stirred_ = 0;
  double bound_at_ = 0;  // CPU seconds, when the pod that decide() was asked for was bound
  std::vector<k8s::Pod> there_;
  std::deque<k8s::Pod> mine_;
};

}  // namespace

CrowdFigures run_crowd(sched::Engine& engine, std::size_t crowd, std::size_t nodes,
                       std::size_t pods, std::size_t turns) {
  Run run(engine, kCrowds[crowd].name, nodes);
  CrowdFigures figures;
  const std::size_t before = heap_bytes();
  const double began = replay::cpu_seconds();
  if (crowd > 0) figures.behind_seconds = run.come(pods);
  figures.came_seconds = replay::cpu_seconds() - began;
  std::vector<double> took;
  double sum = 0;
  for (std::size_t i = 0; i < turns; ++i) {
    const double since = replay::cpu_seconds();
    if (run.turn()) ++figures.bound;
    took.push_back((replay::cpu_seconds() - since) * 1e6);
    sum += took.back();
  }
  std::sort(took.begin(), took.end());
  figures.mean_us = sum / static_cast<double>(turns);
  figures.median_us = took[turns / 2];
  figures.longest_us = took[(turns * 99) / 100];
  figures.held_bytes = heap_bytes() - before;
  return figures;
}

}  // namespace bench::decide
