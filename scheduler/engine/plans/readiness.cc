// Of Plans: whether a plan is ready for its next part, or why not. Changes no plan.
#include "scheduler/engine/plans/plans.h"
#include "scheduler/engine/world/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sched {
namespace {

constexpr std::string_view kQuotaChanged = "its GPU quota has changed";
constexpr std::string_view kNodeIsChanged = "the node has changed";

}  // namespace

Readiness Plans::readiness_of(Id id, const Plan& plan, Time now) {
  using State = Readiness::State;
  if (!plan.failure.empty()) return {State::kFailed, plan.failure};
  const NodeSlot node = world_.nodes.find(plan.bind.node);
  if (node == kNoSlot || !world_.nodes.present(node)) {
    return {State::kFailed, "the node is gone"};
  }
  if (plan.makes_room) {
    Readiness room = room_of(id, plan, node);
    if (room.state != State::kWaits || now < plan.end) return room;
    return {State::kFailed, "waited too long: " + room.why};
  }
  Readiness all{.state = plan.written ? State::kReady : State::kWaits,
                .why = plan.written ? "" : "the API server has not taken what has to be written"};
  if (plan.written) {
    const WaitingPod& pod = *world_.pods.find(plan.bind.pod.uid)->waiting();
    for (const ClusterConstraint* constraint : pod.constraints) {
      Readiness one = constraint->readiness(pod.pod, world_.nodes.facts(node));
      if (one.state == State::kReady) continue;
      if (one.state == State::kFailed) return one;
      if (all.state == State::kReady) all = std::move(one);
    }
  }
  // The node may have been cordoned, or have lost GPUs, since the pod was placed.
  if (all.state == State::kReady) {
    all = readiness_of_node(*world_.pods.find(plan.bind.pod.uid)->waiting(), node);
  }
  if (all.state == State::kReady && has_shrunk(plan, node)) {
    return {State::kFailed, std::string(kNodeIsChanged)};
  }
  if (all.state == State::kWaits && now >= plan.end) {
    return {State::kFailed, "waited too long: " + all.why};
  }
  return all;
}

Readiness Plans::readiness_of_node(const WaitingPod& pod, NodeSlot node) const {
  using State = Readiness::State;
  const PreparedShape& prepared = finder_.refresh(pod.profile, pod.shape).prepared();
  if (prepared.rejection()) return {State::kFailed, std::string(kNodeIsChanged)};
  if (finder_.verdict(prepared, node, {.if_empty = true}).is_ok()) return {};
  if (!finder_.takes_with_awaited(prepared, node)) {
    return {State::kFailed, std::string(kNodeIsChanged)};
  }
  return {State::kWaits, "the node offers none of its GPUs at the moment"};
}

bool Plans::has_shrunk(const Plan& plan, NodeSlot node) const {
  const Resources& offers = world_.nodes.facts(node).allocatable;
  const auto is_short_of = [&](const ResourceAmount& before) {
    const std::int64_t now = offers.get(before.resource);
    if (now >= before.amount) return false;
    std::int64_t taken = 0;
    for (const Occupant* each : world_.nodes.occupants(node)) {
      if (each->kind != Occupant::Kind::kPod || waits_for_room(*each->uid)) continue;
      for (const ResourceAmount& request : each->claim.requests) {
        if (request.resource != before.resource) continue;
        taken = saturating_add(taken, request.amount);
      }
    }
    return taken > now;
  };
  return std::any_of(plan.offered.begin(), plan.offered.end(), is_short_of);
}

bool Plans::waits_for_room(const std::string& uid) const {
  const auto found = of_pod_.find(uid);
  return found != of_pod_.end() && plans_.at(found->second).makes_room;
}

Readiness Plans::room_of(Id id, const Plan& plan, NodeSlot node) {
  using State = Readiness::State;
  const WaitingPod& pod = *world_.pods.find(plan.bind.pod.uid)->waiting();
  // Its claims may be gone since it was placed.
  if (auto objection = objection_to(pod.pod, pod.constraints)) {
    return {State::kFailed, std::move(objection->refusal.reason), false};
  }
  const std::string_view now = obstacle(id, plan, node, {});
  if (now.empty()) return {};
  if (now == kNodeIsChanged) {
    Readiness of_node = readiness_of_node(pod, node);
    if (of_node.state == State::kWaits) return of_node;
  }
  if (plan.leaving.empty()) {
    if (now == kQuotaChanged) return {State::kFailed, std::string(now), false};
    return {State::kFailed, "the room that was made is taken, or the node has changed"};
  }
  const std::string_view lasting = obstacle(id, plan, node, plan.leaving);
  if (!lasting.empty()) return {State::kFailed, std::string(lasting), lasting != kQuotaChanged};
  return {State::kWaits, fmt::format("{} pod(s) have not left the node", plan.leaving.size())};
}

std::string_view Plans::obstacle(Id id, const Plan& plan, NodeSlot node,
                                 const std::set<std::string>& gone) {
  const PodRecord& record = *world_.pods.find(plan.bind.pod.uid);
  if (!quota_allows_without(id, record, node, gone)) return kQuotaChanged;
  Trial trial(world_.nodes);
  const auto take_away = [&](const std::string& uid) {
    const auto& placement = world_.pods.find(uid)->placement();
    if (placement) trial.take_away(placement->node(), placement->occupant());
  };
  take_away(plan.bind.pod.uid);
  for (auto [each, end] = on_node_.equal_range(node); each != end; ++each) {
    if (each->second > id) take_away(plans_.find(each->second)->second.bind.pod.uid);
  }
  for (const std::string& uid : gone) take_away(uid);
  const WaitingPod& pod = *record.waiting();
  const Ruling ruling = finder_.ruling_without(pod, trial);
  const PreparedShape& prepared = finder_.refresh(pod.profile, pod.shape).prepared();
  const bool takes = !prepared.rejection() &&
                     finder_.verdict(prepared, node, {.ruling = &ruling, .trial = &trial}).is_ok();
  return takes ? "" : kNodeIsChanged;
}

bool Plans::quota_allows_without(Id id, const PodRecord& pod, NodeSlot node,
                                 const std::set<std::string>& gone) {
  // Later plans are charged beside their victims, too.
  quota::LedgerTrial& trial = behind_.without(id);
  std::vector<const quota::Charge*> taken;
  const auto take_away = [&](const quota::Charge* charge) {
    if (charge == nullptr) return;
    trial.take_away(*charge);
    taken.push_back(charge);
  };
  take_away(pod.charged());
  for (const std::string& uid : gone) take_away(world_.pods.find(uid)->charged());
  const bool allows = quota_allows(pod, node, trial);
  for (const quota::Charge* charge : taken) trial.put_back(*charge);
  return allows;
}

bool Plans::quota_allows(const PodRecord& pod, NodeSlot node, const quota::LedgerTrial& in) const {
  const quota::Charge* charge = pod.charged();
  if (charge == nullptr || !charge->quota()) return true;
  // It is charged already, so what is held for others is not taken from it.
  const quota::Admission admission = world_.ledger.answers().admit(
      *charge->quota(), pod.waiting()->demand, quota::kFirstHold, &in);
  return admission.allows(world_.nodes.facts(node).charge_class, true);
}

}  // namespace sched
