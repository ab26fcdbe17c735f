#include "scheduler/engine/intake.h"

#include "scheduler/base/nearest_names.h"
#include "scheduler/base/text_hash.h"
#include "scheduler/engine/names_in_use.h"
#include "scheduler/engine/world/kept_labels.h"
#include "scheduler/framework/read_annotations.h"
#include "scheduler/gpu/resource_kind.h"
#include "scheduler/quota/charged_as.h"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sched {
namespace {

bool is_gated(const k8s::Pod& pod) { return !pod.spec.scheduling_gates.empty(); }

// Since when a pod that is new to this process could have been placed. The pod's condition shows
// whether it had scheduling gates, until the condition changes.
Time waiting_since(const k8s::Pod& pod, Time now) {
  const k8s::PodCondition* scheduled = pod.condition("PodScheduled");
  if (scheduled != nullptr && scheduled->reason == "SchedulingGated") return now;
  return std::min(pod.metadata.creation_timestamp.value_or(now), now);
}

// Whether the pod may be scheduled differently now. A change of its status, or of an annotation
// that nothing reads, does not matter: the scheduler's own status patches come back as updates.
bool asks_for_another_try(const k8s::Pod& before, const k8s::Pod& now) {
  return before.spec != now.spec || before.metadata.labels != now.metadata.labels ||
         !gpu::same_of_ours(before.metadata.annotations, now.metadata.annotations,
                            is_read_annotation);
}

// The objects of which that is a change: a claim's volume belongs to it.
template <typename Object>
std::vector<ObjectKey> changed_by(const Object& object) {
  std::vector<ObjectKey> all{object_key<Object>(object.metadata.name, object.metadata.namespace_)};
  if constexpr (std::is_same_v<Object, k8s::PersistentVolume>) {
    if (const auto& claim = object.claim_ref) {
      all.push_back(object_key<k8s::PersistentVolumeClaim>(claim->name, claim->namespace_));
    }
  }
  return all;
}

}  // namespace

template <typename Object>
void Intake::on(const event::Upserted<Object>& event, Time /*now*/) {
  const bool matters = waking_.cluster_changed(ObjectUpserted<Object>{event.object});
  if (!matters) return;
  for (const ObjectKey& each : changed_by(event.object)) plans_.look_again(each);
}
template <typename Object>
void Intake::on(const event::Deleted<Object>& event, Time /*now*/) {
  const bool matters = waking_.cluster_changed(ObjectGone<Object>{event.name, event.namespace_});
  if (matters) plans_.look_again(object_key<Object>(event.name, event.namespace_));
}

void Intake::apply(Event&& event, Time now) {
  forget_unused_names(world_, queue_);
  advance(now);
  std::visit([&](auto& what) { on(std::move(what), now); }, event);
}

void Intake::advance(Time now) {
  backoffs_.advance(now);
  for (const std::string& node : world_.awaited_devices.end(now)) {
    NodeFacts facts = world_.nodes.facts(world_.nodes.find(node));
    facts.health.awaited.reset();
    publish(std::move(facts));
  }
  for (const std::string& node : world_.awaited_labels.end(now)) {
    const NodeFacts& before = world_.nodes.facts(world_.nodes.find(node));
    NodeFacts facts = without_awaited_labels(before, world_.names, world_.options.site_labels);
    complaints_.seen(facts.name, facts.gpu);
    world_.statistics.node_changed(&before, &facts);
    publish(std::move(facts));
  }
}

void Intake::on(const event::NodeUpserted& event, Time now) {
  NodeFacts facts = facts_of(event.object, world_.names, world_.options.site_labels);
  if (const auto& devices = world_.options.devices) facts.gpu_devices = devices->devices_of(facts);
  const NodeSlot known = world_.nodes.find(facts.name);
  const bool there = known != kNoSlot && world_.nodes.present(known);
  const NodeFacts* before = there ? &world_.nodes.facts(known) : nullptr;
  if (before != nullptr && before->uid != facts.uid) {
    // Another node of that name: nothing told that the first one went.
    on(event::NodeDeleted{.name = facts.name}, now);
    before = nullptr;
  }
  backoffs_.complete(facts);
  keep_labels(facts, before, world_.names, world_.options.site_labels);
  world_.awaited_devices.complete(facts, before, world_.names, now);
  world_.awaited_labels.complete(facts, before, now);
  complaints_.seen(facts.name, facts.gpu);
  world_.statistics.node_changed(before, &facts);
  if (world_.owns(facts)) foreign_.node_owned(facts.name);
  const bool news = publish(std::move(facts));
  waking_.cluster_changed(NodeUpserted{event.object}, news);
}

quota::ChargeClassId Intake::charge_class_of(const NodeFacts& facts) {
  const gpu::SiteLabels& site = world_.options.site_labels;
  if (!facts.health.awaited) return world_.ledger.intern(facts, world_.names, site);
  return world_.ledger.intern(with_awaited(facts, world_.names, site), world_.names, site);
}

bool Intake::publish(NodeFacts facts) {
  const NodeSlot node = world_.nodes.slot_of(facts.name);
  const quota::ChargeClassId charge_class = charge_class_of(facts);
  facts.charge_class = charge_class;
  const quota::GpuShare offers = world_.ledger.offer_of(facts, world_.names);
  const bool news = world_.nodes.upsert(std::move(facts));
  world_.ledger.node_is(node, charge_class, offers);
  plans_.room_changed(node);
  if (news) plans_.look_again(object_key<k8s::Node>(world_.nodes.name(node)));
  return news;
}

void Intake::on(const event::NodeDeleted& event, Time /*now*/) {
  const NodeSlot node = world_.nodes.find(event.name);
  if (node != kNoSlot && world_.nodes.present(node)) {
    world_.awaited_devices.node_gone(world_.nodes.facts(node));
    world_.awaited_labels.node_gone(event.name);
    world_.statistics.node_changed(&world_.nodes.facts(node), nullptr);
    world_.ledger.node_is(node, quota::kNoGpuClass);
  }
  backoffs_.node_gone(event.name);
  world_.nodes.erase(event.name);
  complaints_.gone(event.name);
  if (node != kNoSlot) plans_.room_changed(node);
  plans_.look_again(object_key<k8s::Node>(event.name));
  waking_.cluster_changed(NodeGone{event.name, event.namespace_});
}

void Intake::on(event::PodUpserted&& event, Time now) {
  k8s::Pod& pod = event.object;
  if (pod.is_finished()) return pod_gone(pod.metadata.uid);
  if (!pod.spec.node_name.empty()) return pod_bound(pod, now);
  if (const auto profile = world_.profile_of(pod.spec.scheduler_name)) {
    pod_waits(std::move(pod), *profile, now);
  } else {
    note_misnamed(pod);
  }
}

void Intake::on(const event::PodDeleted& event, Time /*now*/) { pod_gone(event.pod.uid); }

void Intake::on(const event::NamespaceUpserted& event, Time /*now*/) {
  if (world_.ledger.upsert(event.object)) waking_.requeue_by_quota();
  waking_.cluster_changed(NamespaceUpserted{event.object});
}
void Intake::on(const event::NamespaceDeleted& event, Time /*now*/) {
  if (world_.ledger.erase_namespace(event.name)) waking_.requeue_by_quota();
  waking_.cluster_changed(NamespaceGone{event.name, event.namespace_});
}
// No queue waits for budgets: they matter to searches for victims alone, which have their own time.
void Intake::on(event::DisruptionBudgetUpserted&& event, Time /*now*/) {
  world_.budgets.upsert(std::move(event.object));
}
void Intake::on(const event::DisruptionBudgetDeleted& event, Time /*now*/) {
  world_.budgets.erase(event.namespace_, event.name);
}
void Intake::on(const event::DisruptionBudgetsReadable& event, Time /*now*/) {
  world_.budgets.set_readable(event.readable);
}
void Intake::on(const event::QuotaUpserted& event, Time /*now*/) {
  if (world_.ledger.upsert(event.object)) waking_.requeue_by_quota();
}
void Intake::on(const event::QuotaDeleted& event, Time now) {
  if (world_.ledger.erase(event.name, now)) waking_.requeue_by_quota();
}

void Intake::on(const event::QuotaRemembered& event, Time now) {
  if (world_.ledger.remember(event.quota, now)) waking_.requeue_by_quota();
}

void Intake::on(const event::PodRejected& event, Time now) { backoffs_.pod_rejected(event, now); }

void Intake::on(const event::Synced& /*event*/, Time now) {
  synced_ = true;
  backoffs_.synced(now);
  groups_.gather(now);
}

void Intake::on(const event::Prepared& event, Time /*now*/) { plans_.on(event); }

void Intake::on(const event::BindSucceeded& event, Time /*now*/) {
  PodRecord* record = world_.assumed(event.pod.uid, event.node);
  // Before its plan has come to a bind this is about an earlier bind.
  if (record == nullptr || plans_.prepares(event.pod.uid)) return;
  if (world_.preempts()) record->remember_name(event.pod.name);
  record->confirm();
}

void Intake::on(const event::BindFailed& event, Time now) {
  // The watch may have brought a later state, or the pod may have been decided again.
  PodRecord* record = world_.assumed(event.pod.uid, event.node);
  if (record == nullptr || plans_.prepares(event.pod.uid)) return;
  if (record->waiting()->pod.is_terminating()) return pod_gone(event.pod.uid);
  plans_.bind_failed(*record, event, now);
}

void Intake::pod_bound(const k8s::Pod& pod, Time now) {
  PodRecord& record = world_.pods.at(pod.metadata.uid);
  misnamed_.gone(pod.metadata.uid);
  plans_.drop(pod.metadata.uid);
  if (record.waiting() != nullptr) leave_queue(*record.waiting());
  const NodeSlot node = world_.nodes.slot_of(pod.spec.node_name);

  Claim claim = world_.templates.claim_of_bound(pod);
  const auto profile = world_.profile_of(pod.spec.scheduler_name);
  const bool ours = profile.has_value();
  if (pod.is_terminating()) {
    groups_.has_no_node(pod.metadata.uid);
  } else if (ours) {
    groups_.has_node(pod, *profile);
  }
  if (!ours) note_foreign(pod, node, claim);
  if (ours && !record.placement() && record.waiting() == nullptr) {
    world_.statistics.pod_arrived(*world_.templates.shape(pod));
  }
  claim.devices = devices_of_bound(pod, record, node);
  quota::Demand demand = quota::demand_of(claim.requests, world_.names);
  PodClassRef pod_class = world_.classes.intern(
      pod, record.placement() ? record.placement()->occupant().pod_class : PodClassRef{});
  Occupant occupant = occupant_of(pod, std::move(claim), std::move(pod_class), ours);
  const bool news = !record.placement() || record.placement()->node() != node ||
                    !counts_alike(record.placement()->occupant(), occupant);
  occupant.chosen_here = record.placement() && record.placement()->node() == node &&
                         record.placement()->occupant().chosen_here;
  if (record.placement() && record.placement()->node() != node) {
    plans_.has_left(pod.metadata.uid, record.placement()->node());
  }
  if (world_.preempts()) record.remember_name(pod.metadata.name);
  record.bind(world_.nodes, node, std::move(occupant));
  if (pod.is_terminating()) plans_.leaves_by(pod.metadata.uid, *pod.metadata.deletion_timestamp);
  world_.charge(record, pod, std::move(demand),
                ours ? quota::note_on(pod, now) : quota::no_note(pod));
  waking_.cluster_changed(BoundPodUpserted{pod}, news);
  backoffs_.pod_seen(pod, now);
}

std::vector<gpu::DeviceShare> Intake::devices_of_bound(const k8s::Pod& pod, const PodRecord& record,
                                                       NodeSlot node) {
  if (record.placement() && record.placement()->node() == node) {
    return record.placement()->claim().devices;
  }
  const NodeView view = world_.nodes.view(node);
  if (view.facts.gpu_devices == 0) return {};
  return world_.options.devices->allocate(*world_.templates.shape(pod), view);
}

void Intake::pod_waits(k8s::Pod pod, std::size_t profile, Time now) {
  if (PodRecord* known = world_.pods.find(pod.metadata.uid)) {
    return pod_changed(*known, std::move(pod), now);
  }
  if (pod.is_terminating()) return;
  auto waiting = std::make_unique<WaitingPod>();
  waiting->profile = profile;
  waiting->order.created = pod.metadata.creation_timestamp.value_or(now);
  waiting->order.arrival = ++world_.arrivals;
  waiting->queued_since = now;
  waiting->waits_since = waiting_since(pod, now);
  take_over(*waiting, std::move(pod));
  world_.statistics.pod_arrived(*waiting->shape);
  enqueue(*waiting);
  PodRecord& record = world_.pods.at(waiting->pod.metadata.uid);
  record.wait(std::move(waiting));
}

void Intake::pod_changed(PodRecord& record, k8s::Pod pod, Time now) {
  // Bound is final: this event is older than the known state.
  if (record.state() == PodRecord::State::kBound) return;
  WaitingPod& waiting = *record.waiting();
  const bool changed = asks_for_another_try(waiting.pod, pod);

  if (record.state() == PodRecord::State::kAssumed) {
    // The server refuses to bind such a pod; if a bind is under way, its outcome decides.
    if (pod.is_terminating() && plans_.prepares(pod.metadata.uid)) {
      return pod_gone(pod.metadata.uid);
    }
    if (pod.is_terminating()) groups_.has_no_node(pod.metadata.uid);
    take_over(waiting, std::move(pod));
    record.seen(waiting.pod, waiting.pod_class);
    if (!changed) return;
    waking_.assumed(waiting, world_.nodes.name(record.placement()->node()));
  } else if (pod.is_terminating()) {
    pod_gone(pod.metadata.uid);
  } else if (!changed) {
    waiting.pod = std::move(pod);
  } else {
    const bool backs_off = waiting.place == QueuePlace::kBackoff;
    const Time ready_at = waiting.ready_at;
    if (is_gated(waiting.pod) && !is_gated(pod)) waiting.waits_since = now;
    leave_queue(waiting);
    waiting.never = false;
    // It may name another group now.
    if (!gpu::same_of_ours(waiting.pod.metadata.annotations, pod.metadata.annotations)) {
      waiting.is_late = false;
    }
    take_over(waiting, std::move(pod));
    if (backs_off && !is_gated(waiting.pod)) {
      queue_.back_off(waiting, ready_at, QueueEvent::kPodUpdate);
    } else {
      enqueue(waiting, QueueEvent::kPodUpdate);
    }
  }
}

void Intake::pod_gone(const std::string& uid) {
  misnamed_.gone(uid);
  PodRecord* record = world_.pods.find(uid);
  if (record == nullptr) return;
  plans_.drop(uid);
  groups_.has_no_node(uid);
  if (record->waiting() != nullptr) leave_queue(*record->waiting());
  const bool held = record->placement().has_value();
  const NodeSlot left = held ? record->placement()->node() : kNoSlot;
  if (held) backoffs_.pod_gone(uid, *record->placement());
  if (world_.preempts() && record->name() != nullptr) {
    const bool waits = record->waiting() != nullptr;
    world_.budgets.gone(
        {waits ? *record->waiting()->pod_class : *record->placement()->occupant().pod_class,
         *record->name()});
  }
  const std::string gone = uid;  // `uid` may be part of what is destroyed below
  world_.pods.erase(gone);
  if (held) plans_.has_left(gone, left);
  foreign_.gone(gone);
  if (held) waking_.cluster_changed(BoundPodGone{gone});
}

void Intake::take_over(WaitingPod& waiting, k8s::Pod pod) {
  waiting.pod = std::move(pod);
  waiting.has_shape(world_.templates.shape(waiting.pod));
  waiting.pod_class = world_.classes.intern(waiting.pod, waiting.pod_class);
  waiting.constraints = world_.constraints_for(waiting.pod, waiting.profile);
  waiting.demand = world_.demand_of(waiting.profile, *waiting.shape, world_.names);
  waiting.queue = waking_.queue_for(waiting);
  waiting.tenant = text_hash(waiting.pod.metadata.namespace_);
  waiting.order.priority = waiting.pod.spec.priority;
  waiting.last_refusal.clear();
}

void Intake::leave_queue(WaitingPod& waiting) {
  groups_.leave(waiting);
  queue_.remove(waiting);
}

void Intake::enqueue(WaitingPod& waiting, QueueEvent event) {
  if (is_gated(waiting.pod)) {
    queue_.gate(waiting, event);
  } else {
    queue_.activate(waiting, event);
  }
}

void Intake::note_foreign(const k8s::Pod& pod, NodeSlot node, const Claim& claim) {
  decision::ForeignGpuPod foreign{.pod = ref_of(pod),
                                  .scheduler_name = pod.spec.scheduler_name,
                                  .node = pod.spec.node_name,
                                  .gpus = 0};
  for (const ResourceAmount& request : claim.requests) {
    if (!gpu::is_gpu_resource(world_.names.name(request.resource))) continue;
    foreign.gpus = saturating_add(foreign.gpus, request.amount);
  }
  if (foreign.gpus == 0) return;
  const bool on_owned_node = world_.nodes.present(node) && world_.owns(world_.nodes.facts(node));
  foreign_.seen(std::move(foreign), on_owned_node);
}

void Intake::note_misnamed(const k8s::Pod& pod) {
  const std::string& written = pod.spec.scheduler_name;
  for (const Profile& profile : world_.profiles) {
    const std::string& name = profile.scheduler_name;
    if (written.size() > name.size() + 1 || name.size() > written.size() + 1) continue;
    // Names that differ in upper and lower case alone have no distance.
    if (edit_distance(written, name) > 1) continue;
    return misnamed_.seen({.pod = ref_of(pod),
                           .scheduler_name = pod.spec.scheduler_name,
                           .meant = profile.scheduler_name});
  }
}

}  // namespace sched
