#include "scheduler/engine/backoffs/node_backoffs.h"

#include "scheduler/engine/backoffs/rejected_pod.h"

#include <algorithm>
#include <utility>

namespace sched {
namespace {

std::optional<BlackHoles> black_holes_for(const std::vector<Profile>& profiles) {
  const FilterPlugin* filter = filter_with_rejection_limits(profiles);
  if (filter == nullptr) return std::nullopt;
  return BlackHoles(*filter->rejection_limits());
}

}  // namespace

NodeBackoffs::NodeBackoffs(World& world)
    : world_(world), black_holes_(black_holes_for(world.profiles)) {}

void NodeBackoffs::pod_rejected(const event::PodRejected& event, Time now) {
  if (!black_holes_) return;
  if (!synced_) {
    early_.push_back(event);
    if (early_.size() > kMostEarly) early_.pop_front();
    return;
  }
  const NodeSlot slot = world_.nodes.find(event.node);
  const bool present = slot != kNoSlot && world_.nodes.present(slot);
  if (event.reason == kTopologyReason) {
    // The watch repeats a rejection when it lists anew, and when the failed pod changes or is
    // deleted. Younger ones than this are known by their uid (topology_rejections.h).
    const bool is_old = event.at <= now - TopologyRejections::kLongest;
    if (!is_old && is_chosen_here(event, slot)) {
      world_.topology_rejections.add(event.node, event.requests, event.pod.uid, now);
    }
    return;
  }
  if (is_by_rule(event, present ? &world_.nodes.facts(slot).gpu : nullptr)) return;
  if (!is_fault_of_node(event, slot) || !black_holes_->rejected(event, now)) return;
  publish(event.node);
  const gpu::AdmissionBackoff& backoff = *black_holes_->backoff(event.node);
  news_.insert_or_assign(
      event.node,
      decision::NodeBackedOff{
          .node = event.node,
          .until = backoff.until,
          .in_a_row = black_holes_->in_a_row(event.node),
          .rejected = backoff.rejected,
          .reason = event.reason,
          .pod = event.pod,
          .platform = present ? gpu::platform_of(world_.nodes.facts(slot).gpu) : std::string()});
}

const Occupant* NodeBackoffs::occupant_of(const event::PodRejected& event, NodeSlot slot) const {
  const PodRecord* record = world_.pods.find(event.pod.uid);
  const bool is_there =
      record != nullptr && record->placement() && record->placement()->node() == slot;
  return is_there ? &record->placement()->occupant() : nullptr;
}

bool NodeBackoffs::is_chosen_here(const event::PodRejected& event, NodeSlot slot) const {
  if (const Occupant* pod = occupant_of(event, slot)) return pod->chosen_here;
  return std::find(gone_.begin(), gone_.end(), Gone{event.pod.uid, event.node}) != gone_.end();
}

bool NodeBackoffs::is_fault_of_node(const event::PodRejected& event, NodeSlot slot) const {
  const Occupant* pod = occupant_of(event, slot);
  if (event.reason.starts_with("OutOf") && !is_chosen_here(event, slot)) return false;
  const NodeFacts nowhere;
  const NodeUsage nothing;
  return had_room(event, slot == kNoSlot ? NodeView{nowhere, nothing} : world_.nodes.view(slot),
                  pod == nullptr ? nullptr : &pod->claim, world_.names);
}

void NodeBackoffs::synced(Time now) {
  synced_ = true;
  for (const event::PodRejected& early : std::exchange(early_, {})) pod_rejected(early, now);
}

void NodeBackoffs::pod_gone(const std::string& uid, const Placement& held) {
  const Occupant& pod = held.occupant();
  if (!black_holes_ || !pod.chosen_here || pod.since != Occupant::kNotStarted) return;
  gone_.push_back({.uid = uid, .node = world_.nodes.name(held.node())});
  if (gone_.size() > kMostGone) gone_.pop_front();
}

void NodeBackoffs::pod_seen(const k8s::Pod& pod, Time now) {
  if (!black_holes_ || !black_holes_->knows(pod.spec.node_name)) return;
  if (pod.status.phase != k8s::PodPhase::kRunning || !pod.status.start_time) return;
  const auto devices = devices_of(pod);
  if (devices.empty()) return;
  if (black_holes_->started(pod.spec.node_name, devices, *pod.status.start_time, now)) {
    released(pod.spec.node_name, true);
  }
}

void NodeBackoffs::advance(Time now) {
  if (!black_holes_) return;
  const auto next = black_holes_->next_end();
  if (!next || *next > now) return;
  for (const std::string& node : black_holes_->end(now)) released(node, false);
}

void NodeBackoffs::released(const std::string& node, bool proven) {
  publish(node);
  news_.insert_or_assign(node, decision::NodeReleased{.node = node, .proven = proven});
}

void NodeBackoffs::publish(const std::string& node) {
  const NodeSlot slot = world_.nodes.find(node);
  if (slot == kNoSlot || !world_.nodes.present(slot)) return;
  NodeFacts facts = world_.nodes.facts(slot);
  facts.health.backoff.reset();
  if (const auto* backoff = black_holes_->backoff(node)) facts.health.backoff = *backoff;
  world_.nodes.upsert(std::move(facts));
}

std::optional<Decision> NodeBackoffs::next_news() {
  if (news_.empty()) return std::nullopt;
  Decision news = std::move(news_.begin()->second);
  news_.erase(news_.begin());
  return news;
}

void NodeBackoffs::complete(NodeFacts& facts) const {
  if (!black_holes_ || black_holes_->empty()) return;
  if (const auto* backoff = black_holes_->backoff(facts.name)) facts.health.backoff = *backoff;
}

void NodeBackoffs::node_gone(const std::string& node) {
  if (black_holes_) black_holes_->forget(node);
  world_.topology_rejections.node_gone(node);
  news_.erase(node);
}

std::optional<Time> NodeBackoffs::next_end() const {
  return black_holes_ ? black_holes_->next_end() : std::nullopt;
}

std::size_t NodeBackoffs::nodes_backed_off() const {
  return black_holes_ ? black_holes_->backed_off() : 0;
}

std::uint64_t NodeBackoffs::rejected_pods() const {
  return black_holes_ ? black_holes_->rejections() : 0;
}

}  // namespace sched
