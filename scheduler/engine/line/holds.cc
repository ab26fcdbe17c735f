#include "scheduler/engine/line/holds.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

namespace sched {
namespace {

// How often all nodes are looked at for one pod, or one shape, while nodes change.
constexpr std::chrono::seconds kLooksAgain{10};

// What must be freed on a node: devices first, then CPU, then memory.
using Lack = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint64_t>;

class Lacking {
 public:
  Lacking(const PodShape& shape, const ResourceNames& names) : shape_(shape) {
    for (const ResourceAmount& request : shape.requests) {
      // Pieces; hugepages and their like are bytes.
      if (is_extended_resource(names.name(request.resource))) devices_.push_back(request);
    }
  }

  [[nodiscard]] Lack on(const NodeView& node, std::uint64_t rank) const {
    Lack lack{0, 0, 0, rank};
    for (const ResourceAmount& request : shape_.requests) {
      if (request.resource == kCpu) std::get<1>(lack) = short_of(request, node);
      if (request.resource == kMemory) std::get<2>(lack) = short_of(request, node);
    }
    for (const ResourceAmount& device : devices_) {
      std::get<0>(lack) = saturating_add(std::get<0>(lack), short_of(device, node));
    }
    return lack;
  }

 private:
  static std::int64_t short_of(const ResourceAmount& request, const NodeView& node) {
    return std::max<std::int64_t>(saturating_subtract(request.amount, node.free(request.resource)),
                                  0);
  }

  const PodShape& shape_;
  std::vector<ResourceAmount> devices_;
};

// How many pods like its largest one must have nodes before the entity starts.
std::size_t alike_in_start(const Entity& entity) {
  if (!entity.is_group) return 1;
  const auto& group = static_cast<const WaitingGroup&>(entity);
  const auto others = static_cast<std::size_t>(
      std::count_if(group.members.begin(), group.members.end(),
                    [&](const auto& member) { return member.pod->kind != group.largest->kind; }));
  return others < group.min_count ? group.min_count - others : 1;
}

// Of pods of that shape, one of which the node takes, no more fit there.
std::size_t most_on(const NodeFacts& node, const PodShape& shape) {
  std::int64_t most = node.allocatable.get(kPods);
  for (const ResourceAmount& request : shape.requests) {
    const std::int64_t offers = node.allocatable.get(request.resource);
    // What the node lacks, though it takes one, no filter of the profile asks for.
    if (request.amount > 0 && offers >= request.amount) {
      most = std::min(most, offers / request.amount);
    }
  }
  return static_cast<std::size_t>(std::max<std::int64_t>(most, 1));
}

}  // namespace

quota::HoldRank Holds::rank_of(const Entity& entity) const {
  const auto found = quotas_.find(entity.queue);
  if (found == quotas_.end()) return quota::kNoHold;
  std::uint32_t rank = 0;
  for (const Hold& hold : found->second.holds) {
    if (hold.order == entity.order) return quota::HoldRank{rank};
    ++rank;
  }
  return quota::kNoHold;
}

const Hold* Holds::of(const Entity& entity) const {
  const auto found = quotas_.find(entity.queue);
  if (found == quotas_.end()) return nullptr;
  for (const Hold& hold : found->second.holds) {
    if (hold.order == entity.order) return &hold;
  }
  return nullptr;
}

Hold* Holds::of(const Entity& entity) {
  return const_cast<Hold*>(static_cast<const Holds&>(*this).of(entity));
}

void Holds::release(const Entity& entity) {
  OfQuota& quota = quotas_.find(entity.queue)->second;
  const auto its_own = std::find_if(quota.holds.begin(), quota.holds.end(),
                                    [&](const Hold& hold) { return hold.order == entity.order; });
  release(entity.queue, quota, its_own);
  quota.settled = false;
  quota.has_turn_first.reset();
}

Holds::Each Holds::release(QueueId queue, OfQuota& quota, Each hold) {
  const auto rank = static_cast<std::uint32_t>(std::distance(quota.holds.begin(), hold));
  world_.ledger.release(quota::QuotaId{queue}, quota::HoldRank{rank});
  return drop(quota, hold);
}

Holds::Each Holds::drop(OfQuota& quota, Each dropped) {
  const bool had_node = dropped->on.has_value();
  const Each behind = quota.holds.erase(dropped);
  if (!had_node) return behind;
  // A node has become free for holds: a pod that found all nodes held searches again.
  for (auto& [other, of] : quotas_) {
    for (Hold& hold : of.holds) hold.looked_for_node = hold.looked_for_node && hold.on;
  }
  return behind;
}

void Holds::looked_at(Entity& entity, Time now) const {
  const bool was_beyond = entity.beyond_guarantee;
  entity.beyond_guarantee =
      !world_.ledger.answers().could_be_within(quota::QuotaId{entity.queue}, entity.demand);
  if (was_beyond || entity.beyond_guarantee) entity.beyond_until = now;
}

void Holds::renew(Time now) {
  const Versions versions{queue_.version(), world_.ledger.version(), world_.nodes.facts_version()};
  if (versions == renewed_at_ && (!next_ || now < *next_)) return;
  renewed_at_ = versions;
  next_ = std::nullopt;
  queue_.for_each_quota(
      [&](QueueId id, const EntityQueue& queue) { renew(id, queue.line(), now); });
  // An entry that no quota has asked for belongs to pods that are placed or gone.
  std::erase_if(reach_, [](const auto& entry) { return entry.second.expired(); });
}

void Holds::renew(QueueId queue, const WaitingLine& line, Time now) {
  OfQuota& quota = quotas_[queue];
  const Versions versions{line.version(), world_.ledger.terms_version(),
                          world_.nodes.facts_version()};
  if (!is_settled(quota, line) || versions != quota.seen || (quota.due && now >= *quota.due)) {
    due_ = std::nullopt;
    quota.has_turn_first.reset();
    quota.settled = renew(queue, quota, line, now);
    quota.seen = versions;
    quota.due = due_;
    quota.asked = std::exchange(asked_, {});
  }
  if (quota.due) next_ = next_ ? std::min(*next_, *quota.due) : *quota.due;
}

// Cheap, because with many waiting quotas each decision asks all of them.
bool Holds::is_settled(const OfQuota& quota, const WaitingLine& line) {
  if (quota.settled || !quota.has_turn_first) return quota.settled;
  const Entity* const entity = line.find(*quota.has_turn_first);
  return entity != nullptr && entity->place != QueuePlace::kParked;
}

bool Holds::renew(QueueId queue, OfQuota& quota, const WaitingLine& line, Time now) {
  const bool other_terms = world_.ledger.terms_version() != quota.seen[1];
  if (other_terms) {
    line.for_each([&](Entity& entity) {
      if (entity.beyond_guarantee) looked_at(entity, now);
    });
  }
  bool as_before = !other_terms;
  for (auto hold = quota.holds.begin(); hold != quota.holds.end();) {
    if (const Entity* entity = holder(queue, *hold, line)) {
      if (hold->classes != reach_of(*entity, now)) as_before = false;
      ++hold;
    } else {
      hold = release(queue, quota, hold);
    }
  }
  if (!as_before) make_again(queue, quota, line, now);
  for (Hold& hold : quota.holds) renew_node(hold, *holder(queue, hold, line), now);

  FullLines full;
  while (quota.holds.size() < kMostHolds) {
    Entity* entity = next_to_hold(queue, quota, line, full, now);
    if (entity == nullptr) break;
    // A pod that is not parked has its turn first; quota is held for it if that finds no node.
    if (entity->place != QueuePlace::kParked) {
      quota.has_turn_first = entity->order;
      return false;
    }
    if (!world_.ledger.hold(quota::QuotaId{queue}, entity->demand,
                            reach_without(full, *entity, now))) {
      if (!add_lines_of(*entity, full, now)) break;
      continue;
    }
    Hold& hold = quota.holds.emplace_back();
    hold.uid = pod_of(*entity).pod.metadata.uid;
    hold.order = entity->order;
    hold.kind = entity->kind;
    hold.classes = reach_of(*entity, now);
    queue_.activate(*entity, QueueEvent::kQuotaChange);
  }
  return true;
}

void Holds::make_again(QueueId queue, OfQuota& quota, const WaitingLine& line, Time now) {
  const quota::QuotaId id{queue};
  world_.ledger.release(id);
  for (auto hold = quota.holds.begin(); hold != quota.holds.end();) {
    Entity& entity = *holder(queue, *hold, line);
    hold->classes = reach_of(entity, now);
    if (!world_.ledger.hold(id, entity.demand, hold->classes)) {
      hold = drop(quota, hold);
      continue;
    }
    // A node that is held stays held if it still serves.
    hold->looked_for_node = false;
    if (entity.place == QueuePlace::kParked) queue_.activate(entity, QueueEvent::kQuotaChange);
    ++hold;
  }
}

Entity* Holds::holder(QueueId queue, const Hold& hold, const WaitingLine& line) const {
  Entity* const kept_for = line.find(hold.order);
  // If the pod asks for something else now, the hold is not for it.
  if (kept_for == nullptr || kept_for->kind != hold.kind) return nullptr;
  const bool has_no_turn =
      world_.ledger.quotas().is_strict(quota::QuotaId{queue}) && kept_for != line.first();
  return has_no_turn ? nullptr : kept_for;
}

void Holds::renew_node(Hold& hold, Entity& entity, Time now) {
  if (hold.facts_version == world_.nodes.facts_version()) return;
  if (!hold.on) return search_again(hold, entity, now);
  hold.facts_version = world_.nodes.facts_version();
  const NodeSlot node = hold.on->node();
  if (could_ever_take(pod_of(entity), node) &&
      world_.nodes.facts(node).charge_class == hold.on_class) {
    return;
  }
  hold.on.reset();
  hold.looked_for_node = false;
  if (entity.place == QueuePlace::kParked) queue_.activate(entity, QueueEvent::kQuotaChange);
}

void Holds::search_again(Hold& hold, Entity& entity, Time now) {
  if (!hold.looked_for_node || entity.is_group) return;
  const Time again = hold.looked_at + kLooksAgain;
  if (now < again) return due_at(again);
  hold.looked_for_node = false;
  if (entity.place == QueuePlace::kParked) queue_.activate(entity, QueueEvent::kQuotaChange);
}

bool Holds::could_ever_take(const WaitingPod& pod, NodeSlot node) {
  if (!world_.nodes.present(node)) return false;
  const PreparedShape& prepared = finder_.refresh(pod.profile, pod.shape).prepared();
  return !prepared.rejection() && could_ever_take(prepared, node);
}

Entity* Holds::next_to_hold(QueueId queue, const OfQuota& quota, const WaitingLine& line,
                            const FullLines& full, Time now) {
  // Gives up after 1,000 kinds of pods in all, or 100 that no node can take or for which the quota
  // can never hold so much. The pods behind them wait until one of those is removed.
  constexpr int kMostLookedAt = 1'000;
  constexpr int kMostPassedOver = 100;
  const bool only_first = world_.ledger.quotas().is_strict(quota::QuotaId{queue});
  if (only_first && !quota.holds.empty()) return nullptr;
  int looked_at = 0;
  int passed_over = 0;
  Entity* first = nullptr;
  for (const auto& [order, head] : line.heads()) {
    if (first != nullptr && first->order < order) break;
    ++looked_at;
    if (Entity* const entity = without_hold(head, quota, line)) {
      const Time since = std::max(entity->waits_since, entity->beyond_until);
      const Time due = since + world_.options.quota.hold_after;
      if (now < due) {
        due_at(due);
      } else if (!can_be_helped(*entity, full, now)) {
        ++passed_over;
      } else if (first == nullptr || entity->order < first->order) {
        first = entity;
      }
    }
    if (only_first || passed_over == kMostPassedOver || looked_at == kMostLookedAt) break;
  }
  return first;
}

Entity* Holds::without_hold(Entity* entity, const OfQuota& quota, const WaitingLine& line) {
  const auto has_hold = [&](const Entity& each) {
    return std::any_of(quota.holds.begin(), quota.holds.end(),
                       [&](const Hold& hold) { return hold.order == each.order; });
  };
  while (entity != nullptr && has_hold(*entity)) entity = line.next_alike(*entity);
  return entity;
}

bool Holds::can_be_helped(const Entity& entity, const FullLines& full, Time now) {
  const quota::QuotaAnswers& answers = world_.ledger.answers();
  const quota::QuotaId quota{entity.queue};
  if (full.empty()) return answers.could_hold(quota, entity.demand, reach_of(entity, now));
  return answers.could_hold(quota, entity.demand, reach_without(full, entity, now));
}

std::vector<quota::ChargeClassId> Holds::reach_without(const FullLines& full, const Entity& entity,
                                                       Time now) {
  std::vector<quota::ChargeClassId> classes = reach_of(entity, now);
  const quota::Quotas& quotas = world_.ledger.quotas();
  const quota::Quota& quota = quotas.at(quota::QuotaId{entity.queue});
  std::erase_if(classes, [&](auto id) { return full.contains(quotas.line_of(quota, id)); });
  return classes;
}

bool Holds::add_lines_of(const Entity& entity, FullLines& full, Time now) {
  const std::size_t known = full.size();
  const quota::Quotas& quotas = world_.ledger.quotas();
  const quota::QuotaId id{entity.queue};
  for (const quota::ChargeClassId on : reach_of(entity, now)) {
    if (!world_.ledger.answers().could_hold(id, entity.demand, {on})) continue;
    full.insert(quotas.line_of(quotas.at(id), on));
  }
  return full.size() > known;
}

const std::vector<quota::ChargeClassId>& Holds::reach_of(const Entity& entity, Time now) {
  const WaitingPod& pod = pod_of(entity);
  const std::size_t wanted = alike_in_start(entity);
  std::weak_ptr<Reach>& known = reach_[{pod.profile, pod.shape.id(), wanted}];
  asked_.push_back(known.lock());
  if (asked_.back() == nullptr) known = asked_.back() = std::make_shared<Reach>();
  Reach& reach = *asked_.back();
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
  std::size_t room = 0;
  for (NodeSlot slot = 0; slot < world_.nodes.slots(); ++slot) {
    if (!world_.nodes.present(slot)) continue;
    const NodeFacts& node = world_.nodes.facts(slot);
    // One node of a class that could take the pod is enough, once there is room for all.
    if (seen[node.charge_class] && room >= wanted) continue;
    if (!could_ever_take(prepared, slot)) continue;
    seen[node.charge_class] = true;
    room += node.health.awaited ? wanted : most_on(node, *pod.shape);
  }
  if (room < wanted) return reach.classes;
  for (quota::ChargeClassId id = 0; id < seen.size(); ++id) {
    if (seen[id]) reach.classes.push_back(id);
  }
  return reach.classes;
}

bool Holds::hold_node(const WaitingPod& pod, const Where& if_empty,
                      const std::function<bool(NodeSlot)>& is_spoken_for, Time now) {
  Hold& hold = *of(pod);
  hold.looked_for_node = true;
  hold.looked_at = now;
  hold.facts_version = world_.nodes.facts_version();
  const PreparedShape& prepared = finder_.refresh(pod.profile, pod.shape).prepared();
  if (prepared.rejection()) return false;
  const auto could_take_it = [&](NodeSlot slot) {
    return world_.nodes.present(slot) && finder_.verdict(prepared, slot, if_empty).is_ok();
  };
  const bool lets_go = hold.on.has_value();
  if (hold.on) {
    const NodeSlot node = hold.on->node();
    if (could_take_it(node) || finder_.takes_with_awaited(prepared, node, if_empty)) return false;
    hold.on.reset();
  }
  std::optional<std::pair<Lack, NodeSlot>> best;
  const Lacking lacking(*pod.shape, world_.names);
  const std::vector<bool> held = held_nodes();
  bool passed_over = false;
  for (NodeSlot slot = 0; slot < world_.nodes.slots(); ++slot) {
    if (held[slot] || !world_.nodes.present(slot)) continue;
    if (is_spoken_for(slot)) {
      passed_over = passed_over || could_take_it(slot);
      continue;
    }
    const std::pair candidate{lacking.on(world_.nodes.view(slot), world_.nodes.rank(slot)), slot};
    // The filters cost most, so they are asked last, and only for a better node.
    if ((!best || candidate < *best) && could_take_it(slot)) best = candidate;
  }
  if (!best) {
    hold.looked_for_node = !passed_over;  // it may be free later
    return lets_go;
  }
  Occupant reservation = occupant_of(pod.pod, claim_of(*pod.shape), {}, true);
  reservation.uid = &hold.uid;
  reservation.kind = Occupant::Kind::kReservation;
  hold.on.emplace(world_.nodes, best->second, std::move(reservation));
  hold.on_class = world_.nodes.facts(best->second).charge_class;
  return lets_go;
}

std::vector<bool> Holds::held_nodes() const {
  std::vector<bool> held(world_.nodes.slots());
  for (const auto& [queue, quota] : quotas_) {
    for (const Hold& hold : quota.holds) {
      if (hold.on) held[hold.on->node()] = true;
    }
  }
  return held;
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
