// Events → state. Duplicate, late and overtaking events are normal: two watches and the outcomes of
// binds are not ordered among each other.
#include "scheduler/engine/state.h"
#include "scheduler/framework/free_devices.h"
#include "scheduler/gpu/choose_devices.h"
#include "scheduler/gpu/resource_kind.h"
#include "scheduler/quota/charged_as.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

namespace sched {
namespace {

std::size_t digest_of(const k8s::StringMap& labels) {
  std::size_t digest = labels.size();
  const auto mix = [&digest](const std::string& text) {
    digest = digest * 31 + std::hash<std::string>{}(text);
  };
  for (const auto& [key, value] : labels) {
    mix(key);
    mix(value);
  }
  return digest;
}

bool is_gated(const k8s::Pod& pod) { return !pod.spec.scheduling_gates.empty(); }

// Since when a pod that is new to this process might have been placed. That it had gates once shows
// in its condition until it is told something else.
Time waiting_since(const k8s::Pod& pod, Time now) {
  const k8s::PodCondition* scheduled = pod.condition("PodScheduled");
  if (scheduled != nullptr && scheduled->reason == "SchedulingGated") return now;
  return std::min(pod.metadata.creation_timestamp.value_or(now), now);
}

// Whether scheduling may end differently. Status and other people's annotations do not matter: our
// own status patches come back as updates.
bool asks_for_another_try(const k8s::Pod& before, const k8s::Pod& now) {
  return before.spec != now.spec || before.metadata.labels != now.metadata.labels ||
         gpu::wishes_may_differ(before, now);
}

}  // namespace

void Engine::State::apply(Event event, Time now) {
  end_backoffs(now);
  std::visit([&](auto& what) { on(std::move(what), now); }, event);
}

void Engine::State::on(const event::NodeUpserted& event, Time /*now*/) {
  NodeFacts facts = facts_of(event.node, names_);
  if (options_.gpu_devices) {
    facts.gpu_devices = std::clamp<std::int64_t>(facts.gpu.whole_gpus(), 0,
                                                 static_cast<std::int64_t>(gpu::kMaxDevices));
  }
  facts.charge_class = ledger_.intern(facts, names_);
  const quota::ClassId charge_class = facts.charge_class;
  complaints_.seen(facts.name, facts.gpu);
  if (black_holes_ && !black_holes_->empty()) {
    if (const auto* backoff = black_holes_->backoff(facts.name)) facts.health.backoff = *backoff;
  }
  const NodeSlot known = nodes_.find(facts.name);
  const bool there = known != kNoSlot && nodes_.present(known);
  statistics_.node_changed(there ? &nodes_.facts(known) : nullptr, &facts);
  if (owned(facts)) foreign_.node_owned(facts.name);
  const bool news = nodes_.upsert(std::move(facts));
  ledger_.node_is(nodes_.find(event.node.metadata.name), charge_class);
  tell_constraints(NodeUpserted{event.node}, news ? kNodeChanged : 0);
}

void Engine::State::on(const event::NodeDeleted& event, Time /*now*/) {
  const NodeSlot node = nodes_.find(event.name);
  if (node != kNoSlot && nodes_.present(node)) {
    statistics_.node_changed(&nodes_.facts(node), nullptr);
    ledger_.node_is(node, quota::kNoGpuClass);
  }
  if (black_holes_) black_holes_->forget(event.name);
  node_news_.erase(event.name);
  nodes_.erase(event.name);
  complaints_.gone(event.name);
  tell_constraints(NodeGone{event.name}, kNodeChanged);
}

void Engine::State::on(event::PodUpserted&& event, Time now) {
  k8s::Pod& pod = event.pod;
  if (pod.is_finished()) return pod_gone(pod.metadata.uid);
  if (!pod.spec.node_name.empty()) return pod_bound(pod, now);
  if (const auto profile = profile_of(pod.spec.scheduler_name)) {
    pod_waits(std::move(pod), *profile, now);
  }
}

void Engine::State::on(const event::PodDeleted& event, Time /*now*/) { pod_gone(event.pod.uid); }

void Engine::State::on(const event::NamespaceUpserted& event, Time /*now*/) {
  if (ledger_.upsert(event.object)) requeue_by_quota();
  tell_constraints(NamespaceUpserted{event.object}, kNamespaceChanged);
}
void Engine::State::on(const event::NamespaceDeleted& event, Time /*now*/) {
  if (ledger_.erase_namespace(event.name)) requeue_by_quota();
  tell_constraints(NamespaceGone{event.name}, kNamespaceChanged);
}
void Engine::State::on(const event::ClaimUpserted& event, Time /*now*/) {
  tell_constraints(ClaimUpserted{event.object}, kStorageChanged);
}
void Engine::State::on(const event::ClaimDeleted& event, Time /*now*/) {
  tell_constraints(ClaimGone{event.namespace_, event.name}, kStorageChanged);
}
void Engine::State::on(const event::VolumeUpserted& event, Time /*now*/) {
  tell_constraints(VolumeUpserted{event.object}, kStorageChanged);
}
void Engine::State::on(const event::VolumeDeleted& event, Time /*now*/) {
  tell_constraints(VolumeGone{event.name}, kStorageChanged);
}
void Engine::State::on(const event::DeviceClassUpserted& event, Time /*now*/) {
  tell_constraints(DeviceClassUpserted{event.object}, kDeviceClassChanged);
}
void Engine::State::on(const event::DeviceClassDeleted& event, Time /*now*/) {
  tell_constraints(DeviceClassGone{event.name}, kDeviceClassChanged);
}

void Engine::State::on(const event::QuotaUpserted& event, Time /*now*/) {
  if (ledger_.upsert(event.object)) requeue_by_quota();
}
void Engine::State::on(const event::QuotaDeleted& event, Time /*now*/) {
  if (ledger_.erase(event.name)) requeue_by_quota();
}

void Engine::State::on(const event::Synced& /*event*/, Time /*now*/) { synced_ = true; }

void Engine::State::on(const event::BindSucceeded& event, Time /*now*/) {
  PodRecord* record = pods_.find(event.pod.uid);
  if (record == nullptr || record->state() != PodRecord::State::kAssumed) return;
  if (nodes_.name(record->placement()->node()) == event.node) record->confirm();
}

void Engine::State::on(const event::BindFailed& event, Time now) {
  PodRecord* record = pods_.find(event.pod.uid);
  // The watch may have told better already, or the pod may have been decided anew.
  if (record == nullptr || record->state() != PodRecord::State::kAssumed) return;
  if (nodes_.name(record->placement()->node()) != event.node) return;

  WaitingPod& waiting = *record->waiting();
  if (waiting.pod.is_terminating()) return pod_gone(event.pod.uid);
  record->forget();
  tell_constraints(BoundPodGone{event.pod.uid}, kBoundPodRemoved);
  ++waiting.failed_binds;
  waiting.queue = queue_for(waiting);
  if (is_gated(waiting.pod)) {
    queue_.gate(waiting);
  } else {
    queue_.back_off(waiting, end_of_backoff(waiting, now));
  }
}

void Engine::State::pod_bound(const k8s::Pod& pod, Time now) {
  PodRecord& record = pods_.at(pod.metadata.uid);
  if (record.waiting() != nullptr) queue_.remove(*record.waiting());
  const NodeSlot node = nodes_.slot_of(pod.spec.node_name);
  const std::size_t digest = digest_of(pod.metadata.labels);
  const bool news =
      !record.placement() || record.placement()->node() != node || record.labels_digest != digest;
  record.labels_digest = digest;

  Claim claim = templates_.claim_of_bound(pod);
  const bool ours = profile_of(pod.spec.scheduler_name).has_value();
  if (!ours) note_foreign(pod, node, claim);
  if (ours && !record.placement() && record.waiting() == nullptr) {
    statistics_.pod_arrived(*templates_.shape(pod));
  }
  claim.devices = devices_of_bound(pod, record, node);
  quota::Demand demand = quota::demand_of(claim.requests, names_);
  record.bind(nodes_, node, std::move(claim));
  charge(record, pod, std::move(demand), ours ? quota::charged_as(pod) : "");
  tell_constraints(BoundPodUpserted{pod}, news ? kBoundPodChanged : 0);
  note_started(pod, now);
}

std::vector<gpu::DeviceShare> Engine::State::devices_of_bound(const k8s::Pod& pod,
                                                              const PodRecord& record,
                                                              NodeSlot node) {
  if (record.placement() && record.placement()->node() == node) {
    return record.placement()->claim().devices;
  }
  const NodeView view = nodes_.view(node);
  if (view.facts.gpu_devices == 0) return {};
  return gpu::choose_devices(templates_.shape(pod)->gpu, devices_of(view))
      .value_or(std::vector<gpu::DeviceShare>{});
}

void Engine::State::pod_waits(k8s::Pod pod, std::size_t profile, Time now) {
  if (PodRecord* known = pods_.find(pod.metadata.uid)) {
    return pod_changed(*known, std::move(pod), now);
  }
  if (pod.is_terminating()) return;
  auto waiting = std::make_unique<WaitingPod>();
  waiting->profile = profile;
  waiting->order.created = pod.metadata.creation_timestamp.value_or(now);
  waiting->order.arrival = ++arrivals_;
  waiting->queued_since = now;
  waiting->waits_since = waiting_since(pod, now);
  take_over(*waiting, std::move(pod));
  statistics_.pod_arrived(*waiting->shape);
  enqueue(*waiting);
  PodRecord& record = pods_.at(waiting->pod.metadata.uid);
  record.wait(std::move(waiting));
}

void Engine::State::pod_changed(PodRecord& record, k8s::Pod pod, Time now) {
  // Bound is for good: this is older news than what is known.
  if (record.state() == PodRecord::State::kBound) return;
  WaitingPod& waiting = *record.waiting();
  const bool changed = asks_for_another_try(waiting.pod, pod);

  if (record.state() == PodRecord::State::kAssumed) {
    take_over(waiting, std::move(pod));
    if (!changed) return;
    record.labels_digest = digest_of(waiting.pod.metadata.labels);
    tell_assumed(waiting, nodes_.name(record.placement()->node()), kBoundPodChanged);
  } else if (pod.is_terminating()) {
    pod_gone(pod.metadata.uid);
  } else if (!changed) {
    waiting.pod = std::move(pod);
  } else {
    const bool backs_off = waiting.place == QueuePlace::kBackoff;
    const Time ready_at = waiting.ready_at;
    if (is_gated(waiting.pod) && !is_gated(pod)) waiting.waits_since = now;
    queue_.remove(waiting);
    take_over(waiting, std::move(pod));
    if (backs_off && !is_gated(waiting.pod)) {
      queue_.back_off(waiting, ready_at);
    } else {
      enqueue(waiting);
    }
  }
}

void Engine::State::pod_gone(const std::string& uid) {
  PodRecord* record = pods_.find(uid);
  if (record == nullptr) return;
  if (record->waiting() != nullptr) queue_.remove(*record->waiting());
  const bool held = record->placement().has_value();
  const std::string gone = uid;  // `uid` may live in what is destroyed now
  pods_.erase(gone);
  foreign_.gone(gone);
  if (held) tell_constraints(BoundPodGone{gone}, kBoundPodRemoved);
}

void Engine::State::take_over(WaitingPod& waiting, k8s::Pod pod) {
  waiting.pod = std::move(pod);
  waiting.shape = templates_.shape(waiting.pod);
  waiting.demand = demand_of(waiting.profile, *waiting.shape, names_);
  waiting.queue = queue_for(waiting);
  waiting.order.priority = waiting.pod.spec.priority;
  waiting.last_refusal.clear();
}

void Engine::State::enqueue(WaitingPod& waiting) {
  if (is_gated(waiting.pod)) {
    queue_.gate(waiting);
  } else {
    queue_.activate(waiting);
  }
}

void Engine::State::charge(PodRecord& record, const k8s::Pod& pod, quota::Demand demand,
                           const std::string& charged_as) {
  demand.allowed = {};  // it is where it is
  record.charge(ledger_,
                {.uid = pod.metadata.uid,
                 .namespace_ = pod.metadata.namespace_,
                 .charged_as = charged_as,
                 .created = pod.metadata.creation_timestamp.value_or(Time{})},
                std::move(demand));
}

void Engine::State::note_foreign(const k8s::Pod& pod, NodeSlot node, const Claim& claim) {
  decision::ForeignGpuPod foreign{.pod = ref_of(pod),
                                  .scheduler_name = pod.spec.scheduler_name,
                                  .node = pod.spec.node_name,
                                  .gpus = 0};
  for (const ResourceAmount& request : claim.requests) {
    if (!gpu::is_gpu_resource(names_.name(request.resource))) continue;
    foreign.gpus = saturating_add(foreign.gpus, request.amount);
  }
  if (foreign.gpus == 0) return;
  const bool on_owned_node = nodes_.present(node) && owned(nodes_.facts(node));
  foreign_.seen(std::move(foreign), on_owned_node);
}

bool Engine::State::owned(const NodeFacts& node) const {
  return std::any_of(profiles_.begin(), profiles_.end(), [&](const Profile& profile) {
    return std::any_of(profile.filters.begin(), profile.filters.end(),
                       [&](const auto& filter) { return filter->owns(node); });
  });
}

Time Engine::State::end_of_backoff(const WaitingPod& waiting, Time now) const {
  auto wait = options_.initial_backoff;
  for (int i = 1; i < waiting.failed_binds && wait < options_.max_backoff; ++i) wait *= 2;
  return now + std::min(wait, options_.max_backoff);
}

void Engine::State::tell_constraints(const ClusterChange& change, ChangeMask kind) {
  bool lifts_some = false;
  for (const Profile& profile : profiles_) {
    for (const auto& constraint : profile.constraints) {
      lifts_some = constraint->apply(change) || lifts_some;
    }
  }
  if (kind != 0 && lifts_some) queue_.wake(kind);
}

void Engine::State::tell_assumed(WaitingPod& waiting, const std::string& node, ChangeMask kind) {
  // Only for the call: until the bind went through, the pod itself has no node.
  waiting.pod.spec.node_name = node;
  tell_constraints(BoundPodUpserted{waiting.pod}, kind);
  waiting.pod.spec.node_name.clear();
}

}  // namespace sched
