// What kubelets did to pods → which nodes are backed off.
#include "scheduler/engine/health/rejected_pod.h"
#include "scheduler/engine/state.h"

#include <utility>

namespace sched {

void Engine::State::on(const event::PodRejected& event, Time now) {
  if (!black_holes_) return;
  const NodeSlot slot = nodes_.find(event.node);
  const bool present = slot != kNoSlot && nodes_.present(slot);
  if (is_by_rule(event, present ? &nodes_.facts(slot).gpu : nullptr)) return;
  if (!black_holes_->rejected(event, now)) return;
  show_backoff(event.node);
  const gpu::AdmissionBackoff& backoff = *black_holes_->backoff(event.node);
  node_news_.insert_or_assign(
      event.node,
      decision::NodeBackedOff{
          .node = event.node,
          .until = backoff.until,
          .in_a_row = black_holes_->in_a_row(event.node),
          .rejected = backoff.rejected,
          .reason = event.reason,
          .pod = event.pod,
          .platform = present ? gpu::platform_of(nodes_.facts(slot).gpu) : std::string()});
}

void Engine::State::note_started(const k8s::Pod& pod, Time now) {
  if (!black_holes_ || !black_holes_->knows(pod.spec.node_name)) return;
  if (pod.status.phase != k8s::PodPhase::kRunning || !pod.status.start_time) return;
  const auto devices = devices_of(pod);
  if (devices.empty()) return;
  if (black_holes_->started(pod.spec.node_name, devices, *pod.status.start_time, now)) {
    released(pod.spec.node_name, true);
  }
}

void Engine::State::end_backoffs(Time now) {
  if (!black_holes_) return;
  const auto next = black_holes_->next_end();
  if (!next || *next > now) return;
  for (const std::string& node : black_holes_->end(now)) released(node, false);
}

void Engine::State::released(const std::string& node, bool proven) {
  show_backoff(node);
  node_news_.insert_or_assign(node, decision::NodeReleased{.node = node, .proven = proven});
}

void Engine::State::show_backoff(const std::string& node) {
  const NodeSlot slot = nodes_.find(node);
  if (slot == kNoSlot || !nodes_.present(slot)) return;
  NodeFacts facts = nodes_.facts(slot);
  facts.health.backoff.reset();
  if (const auto* backoff = black_holes_->backoff(node)) facts.health.backoff = *backoff;
  nodes_.upsert(std::move(facts));
}

std::optional<Decision> Engine::State::next_node_news() {
  if (node_news_.empty()) return std::nullopt;
  Decision news = std::move(node_news_.begin()->second);
  node_news_.erase(node_news_.begin());
  return news;
}

GpuFigures Engine::State::gpu_figures() const {
  GpuFigures figures;
  if (black_holes_) {
    figures.nodes_backed_off = black_holes_->backed_off();
    figures.rejected_pods = black_holes_->rejections();
  }
  figures.repartitions = repartitions_.nodes();
  figures.repartition_pods = repartitions_.pods();
  return figures;
}

}  // namespace sched
