#include "scheduler/engine/line/holds.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

namespace sched {
namespace {

// What must be freed on the node: devices first, then CPU, then memory.
using Lack = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint64_t>;

Lack lack_of(const PodShape& shape, const ResourceNames& names, const NodeView& node,
             std::uint64_t rank) {
  std::int64_t devices = 0;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  for (const ResourceAmount& request : shape.requests) {
    const std::int64_t short_of =
        std::max<std::int64_t>(saturating_subtract(request.amount, node.free(request.resource)), 0);
    if (request.resource == kCpu) cpu = short_of;
    if (request.resource == kMemory) memory = short_of;
    // Pieces; hugepages and their like are bytes.
    const bool is_device = is_extended_resource(names.name(request.resource));
    if (is_device) devices = saturating_add(devices, short_of);
  }
  return {devices, cpu, memory, rank};
}

// The hold of the entity's queue, if it is for this entity.
template <typename Holds>
auto* own_hold(Holds& holds, const Entity& entity) {
  const auto found = holds.find(entity.queue);
  const bool its_own = found != holds.end() && found->second.order == entity.order;
  return its_own ? &found->second : nullptr;
}

}  // namespace

Hold* Holds::of(const Entity& entity) { return own_hold(holds_, entity); }

const Hold* Holds::of(const Entity& entity) const { return own_hold(holds_, entity); }

void Holds::release(QueueId queue) {
  const auto released = holds_.find(queue);
  if (released == holds_.end()) return;
  const bool had_node = released->second.on.has_value();
  holds_.erase(released);
  world_.ledger.release(quota::QuotaId{queue});
  if (!had_node) return;
  // A pod that found all nodes held searches again.
  for (auto& [other, hold] : holds_) hold.looked_for_node = hold.looked_for_node && hold.on;
}

void Holds::renew(Time now) {
  const Versions versions{queue_.version(), world_.ledger.version(), world_.nodes.facts_version()};
  if (versions == renewed_at_ && (!next_ || now < *next_)) return;
  renewed_at_ = versions;
  next_ = std::nullopt;
  queue_.for_each_quota(
      [&](QueueId id, const EntityQueue& queue) { renew(id, queue.line(), now); });
  // An entry that was not asked for belongs to pods that are placed or gone.
  std::erase_if(reach_, [](const auto& entry) { return !entry.second.in_use; });
  for (auto& [shape, reach] : reach_) reach.in_use = false;
}

void Holds::renew(QueueId queue, const WaitingLine& line, Time now) {
  WaitingPod* pod = holder(queue, line);
  if (pod != nullptr && is_renewed(*pod, now)) return renew_node(*pod);
  if (pod == nullptr || !can_be_helped(*pod, now)) {
    release(queue);
    pod = next_to_hold(queue, line, now);
    // A pod that is not parked has its turn first; quota is held for it if that finds no node.
    if (pod == nullptr || pod->place != QueuePlace::kParked) return;
  }
  // Quotas or nodes have changed: a node that is held stays held if it still serves.
  const std::vector<quota::ChargeClassId>& classes = reach_of(*pod, now);
  if (!world_.ledger.hold(quota::QuotaId{queue}, pod->demand, classes)) return release(queue);
  Hold& hold = holds_[queue];
  hold.uid = pod->pod.metadata.uid;
  hold.order = pod->order;
  hold.kind = pod->kind;
  hold.classes = classes;
  hold.looked_for_node = false;
  if (pod->place == QueuePlace::kParked) queue_.activate(*pod);
}

WaitingPod* Holds::holder(QueueId queue, const WaitingLine& line) {
  const auto hold = holds_.find(queue);
  if (hold == holds_.end()) return nullptr;
  Entity* const kept_for = line.find(hold->second.order);
  // If the pod asks for something else now, the hold is not for it.
  if (kept_for == nullptr || kept_for->kind != hold->second.kind) return nullptr;
  const bool has_no_turn =
      world_.ledger.is_strict(quota::QuotaId{queue}) && kept_for != line.first();
  return has_no_turn ? nullptr : &pod_of(*kept_for);
}

bool Holds::is_renewed(const WaitingPod& pod, Time now) {
  const Hold* hold = of(pod);
  return hold != nullptr && world_.ledger.holds(quota::QuotaId{pod.queue}) &&
         hold->classes == reach_of(pod, now);
}

void Holds::renew_node(WaitingPod& pod) {
  Hold& hold = *of(pod);
  if (!hold.on || hold.facts_version == world_.nodes.facts_version()) return;
  hold.facts_version = world_.nodes.facts_version();
  if (could_ever_take(pod, hold.on->node())) return;
  hold.on.reset();
  hold.looked_for_node = false;
  if (pod.place == QueuePlace::kParked) queue_.activate(pod);
}

bool Holds::could_ever_take(const WaitingPod& pod, NodeSlot node) {
  if (!world_.nodes.present(node)) return false;
  const PreparedShape& prepared = finder_.refresh(pod.profile, pod.shape).prepared();
  return !prepared.rejection() && finder_.verdict(prepared, node, {.if_empty = true}).is_ok();
}

WaitingPod* Holds::next_to_hold(QueueId queue, const WaitingLine& line, Time now) {
  // Gives up after 1,000 kinds of pods in all, or 100 that no node can take or for which the quota
  // can never hold so much. The pods behind them wait until one of those is removed.
  constexpr int kMostLookedAt = 1'000;
  constexpr int kMostPassedOver = 100;
  Young& young = young_[queue];
  if (young.line_version == line.version() && now < young.until) {
    due_at(young.until);
    return nullptr;
  }
  const bool only_first = world_.ledger.is_strict(quota::QuotaId{queue});
  int looked_at = 0;
  int passed_over = 0;
  Time first_due = Time::max();
  for (const auto& [order, entity] : line.heads()) {
    const Time due = entity->waits_since + world_.options.quota.hold_after;
    if (now < due) {
      first_due = std::min(first_due, due);
    } else if (can_be_helped(pod_of(*entity), now)) {
      return &pod_of(*entity);
    } else {
      ++passed_over;
    }
    ++looked_at;
    if (only_first || passed_over == kMostPassedOver || looked_at == kMostLookedAt) break;
  }
  if (first_due == Time::max()) return nullptr;
  due_at(first_due);
  if (passed_over == 0 && !only_first) young = {line.version(), first_due};
  return nullptr;
}

bool Holds::can_be_helped(const WaitingPod& pod, Time now) {
  return world_.ledger.could_hold(quota::QuotaId{pod.queue}, pod.demand, reach_of(pod, now));
}

const std::vector<quota::ChargeClassId>& Holds::reach_of(const WaitingPod& pod, Time now) {
  constexpr std::chrono::seconds kLooksAgain{10};
  Reach& reach = reach_[{pod.profile, pod.shape.id()}];
  reach.in_use = true;
  if (reach.facts_version == world_.nodes.facts_version()) return reach.classes;
  if (reach.facts_version && now < reach.at + kLooksAgain) {
    due_at(reach.at + kLooksAgain);
    return reach.classes;
  }
  reach.shape = pod.shape;
  reach.facts_version = world_.nodes.facts_version();
  reach.at = now;
  reach.classes.clear();
  const PreparedShape& prepared = finder_.refresh(pod.profile, pod.shape).prepared();
  if (prepared.rejection()) return reach.classes;
  std::vector<bool> seen(world_.ledger.classes().size());
  for (NodeSlot slot = 0; slot < world_.nodes.slots(); ++slot) {
    if (!world_.nodes.present(slot)) continue;
    // One node of a class that could take the pod is enough.
    const quota::ChargeClassId id = world_.nodes.facts(slot).charge_class;
    seen[id] = seen[id] || finder_.verdict(prepared, slot, {.if_empty = true}).is_ok();
  }
  for (quota::ChargeClassId id = 0; id < seen.size(); ++id) {
    if (seen[id]) reach.classes.push_back(id);
  }
  return reach.classes;
}

void Holds::hold_node(const WaitingPod& pod, const Where& if_empty) {
  Hold& hold = *of(pod);
  hold.looked_for_node = true;
  const PreparedShape& prepared = finder_.refresh(pod.profile, pod.shape).prepared();
  if (prepared.rejection()) return;
  const auto could_take_it = [&](NodeSlot slot) {
    return world_.nodes.present(slot) && finder_.verdict(prepared, slot, if_empty).is_ok();
  };
  if (hold.on) {
    if (could_take_it(hold.on->node())) return;
    hold.on.reset();
  }
  std::optional<std::pair<Lack, NodeSlot>> best;
  for (NodeSlot slot = 0; slot < world_.nodes.slots(); ++slot) {
    const bool taken = std::any_of(holds_.begin(), holds_.end(), [&](const auto& other) {
      return other.second.on && other.second.on->node() == slot;
    });
    if (taken || !could_take_it(slot)) continue;
    const std::pair candidate{
        lack_of(*pod.shape, world_.names, world_.nodes.view(slot), world_.nodes.rank(slot)), slot};
    if (!best || candidate < *best) best = candidate;
  }
  if (!best) return;
  Occupant reservation = occupant_of(pod.pod, claim_of(*pod.shape), {}, true);
  reservation.uid = &hold.uid;
  reservation.kind = Occupant::Kind::kReservation;
  hold.on.emplace(world_.nodes, best->second, std::move(reservation));
}

bool Holds::held_node_has_room(const WaitingPod& pod,
                               const std::vector<quota::ChargeClassId>& within) {
  const Hold* hold = of(pod);
  if (hold == nullptr || !hold->on) return false;
  const NodeSlot node = hold->on->node();
  if (!world_.nodes.present(node)) return false;
  const quota::ChargeClassId id = world_.nodes.facts(node).charge_class;
  if (!std::binary_search(within.begin(), within.end(), id)) return false;
  const PreparedShape& prepared = finder_.refresh(pod.profile, pod.shape).prepared();
  if (prepared.rejection()) return false;
  Trial without_reservation(world_.nodes);
  without_reservation.take_away(node, hold->on->occupant());
  return finder_.verdict(prepared, node, {.trial = &without_reservation}).is_ok();
}

}  // namespace sched
