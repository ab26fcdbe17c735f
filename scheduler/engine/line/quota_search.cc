#include "scheduler/engine/line/quota_search.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sched {

using quota::QuotaId;

namespace {

// What a pod waits for that quota has room for. If all nodes are ruled out, room on a node does not
// help.
WaitsFor waits_for_nodes(const Ruling& ruling) {
  if (ruling.allows_all()) return kWaitsForNodes;
  return ruling.rules_out_all() ? kWaitsForOthers : kWaitsForNodes | kWaitsForOthers;
}

// What a pod without quota waits for if all nodes refuse its shape so.
WaitsFor waits_for_nodes(RefusedBy by) {
  return by == RefusedBy::kFacts ? kWaitsForFacts : kWaitsForNodes;
}

}  // namespace

WaitsFor QuotaSearch::Found::waits_for(const Ruling& ruling) const {
  const bool admitted = !admission.within.empty() || !admission.borrowing.empty();
  const WaitsFor nodes = admitted || !admission.refused_some ? waits_for_nodes(ruling) : 0;
  // If quota refuses nothing, more quota does not help. If others take it meanwhile, the next check
  // finds that, when a node has room.
  const WaitsFor quota = admission.refused_some ? kWaitsForQuota : 0;
  return static_cast<WaitsFor>(nodes | quota);
}

Scope QuotaSearch::scope_of(std::vector<quota::ChargeClassId> classes) {
  const quota::ChargeClasses& all = world_.ledger.classes();
  std::size_t present = 0;
  for (quota::ChargeClassId id = 1; id < all.size(); ++id) {
    if (all.present(id)) ++present;
  }
  // All classes: the answers of pods without quota are the same, and are shared.
  if (present > 0 && classes.size() == present) return {};
  return {&class_sets_, class_sets_.intern(std::move(classes))};
}

bool QuotaSearch::look(const WaitingPod& pod, const Ruling& ruling,
                       std::vector<quota::ChargeClassId> classes, Found& found) {
  std::sort(classes.begin(), classes.end());
  found.scope = scope_of(std::move(classes));
  found.answers = &finder_.refresh(pod, ruling, found.scope);
  found.best = found.answers->best({.scope = found.scope, .ruling = &ruling});
  return found.best.node != kNoSlot;
}

std::optional<quota::Standing> QuotaSearch::borrow_in_turn(const WaitingPod& pod,
                                                           const Ruling& ruling, Found& found) {
  // The classes, those where the quota stands best first.
  const quota::HoldRank rank = holds_.rank_of(pod);
  std::vector<std::pair<quota::Standing, quota::ChargeClassId>> ways;
  for (const quota::ChargeClassId on : found.admission.borrowing) {
    ways.emplace_back(world_.ledger.answers().standing_on(on, quota_of(pod), pod.demand, rank), on);
  }
  std::stable_sort(ways.begin(), ways.end(),
                   [](const auto& a, const auto& b) { return compare(a.first, b.first) < 0; });
  auto way = ways.begin();
  std::vector<quota::ChargeClassId> classes = found.admission.within;
  for (; way != ways.end() && queue_.comes_first(pod, way->first); ++way) {
    classes.push_back(way->second);
  }
  // The pod may borrow on all classes, and all of them have been searched.
  if (way == ways.end()) return std::nullopt;
  if (way != ways.begin() && look(pod, ruling, std::move(classes), found)) return std::nullopt;
  for (; way != ways.end(); ++way) {
    classes = found.admission.within;
    classes.push_back(way->second);
    if (look(pod, ruling, std::move(classes), found)) return way->first;
  }
  return std::nullopt;
}

QuotaSearch::Found QuotaSearch::find(const WaitingPod& pod, const Ruling& ruling) {
  Found found;
  const quota::HoldRank rank = holds_.rank_of(pod);
  const bool is_holder = rank != quota::kNoHold;
  found.admission = world_.ledger.answers().admit(quota_of(pod), pod.demand, rank);
  if (found.admission.refuses()) return found;
  const auto& [within, borrowing, refused_some] = found.admission;
  if (!within.empty() || borrowing.empty()) look(pod, ruling, within, found);
  if (!found.any() && is_holder) {
    found.held_node = holds_.held_node_has_room(pod, within) &&
                      ruling.find(holds_.of(pod)->on->node()) == nullptr;
  }
  if (found.any() || borrowing.empty()) return found;
  // The classes within the guarantee have no room. They are searched again with the others, so that
  // one search counts all refusals.
  found.borrows = look(pod, ruling, found.admission.classes(), found);
  return found;
}

std::size_t QuotaSearch::must_start_before(const Entity& entity) const {
  if (!world_.ledger.quotas().is_strict(quota_of(entity))) return 0;
  return queue_.find(entity.queue)->line().before(entity);
}

std::optional<WaitsFor> QuotaSearch::obstacle_of(const WaitingGroup& group) {
  if (group.in_line && group.queue != kMainQueue && must_wait_for_turn(group)) {
    return kWaitsForTurn;
  }
  // Its message says behind how many it is.
  if (group.told_of_turn) return std::nullopt;
  // The group may start without its largest pod.
  if (group.members.size() > group.min_count) return std::nullopt;
  const WaitingPod& largest = *group.largest;
  WaitsFor waits_for = group.apart.any() ? kWaitsForOthers : 0;
  if (group.queue != kMainQueue) {
    const quota::Admission admission =
        world_.ledger.answers().admit(quota_of(group), largest.demand, holds_.rank_of(group));
    if (admission.refused_some) waits_for |= kWaitsForQuota;
    if (admission.refuses()) return waits_for;
    if (group.told_over_quota) return std::nullopt;
  }
  const bool has_room = !finder_.known_refusal(largest.profile, largest.shape) &&
                        !finder_.refresh(largest.profile, largest.shape).refused_by();
  if (has_room) return std::nullopt;
  return static_cast<WaitsFor>(waits_for | kWaitsForNodes);
}

std::optional<WaitsFor> QuotaSearch::known_obstacle_of(const WaitingPod& pod) {
  if (pod.in_line && must_wait_for_turn(pod)) return kWaitsForTurn;
  // Its message says behind how many it is, or a node is held for it.
  if (pod.told_of_turn || holds_.of(pod) != nullptr || pod.apart.any()) return std::nullopt;
  Found found;
  found.admission = world_.ledger.answers().admit(quota_of(pod), pod.demand, quota::kNoHold);
  if (found.admission.refuses()) return found.waits_for({});
  if (pod.told_over_quota || !finder_.known_refusal(pod.profile, pod.shape)) return std::nullopt;
  return found.waits_for({});
}

std::optional<WaitsFor> QuotaSearch::obstacle_of(const WaitingPod& pod) {
  if (pod.queue == kMainQueue) {
    auto refused = finder_.known_refusal(pod.profile, pod.shape);
    if (!refused) refused = finder_.refresh(pod.profile, pod.shape).refused_by();
    if (refused) return waits_for_nodes(*refused);
    if (!pod.apart.any()) return std::nullopt;
    const Ruling ruling = finder_.ruling_for(pod);
    if (ruling.rules_out_all()) return waits_for_nodes(ruling);
    const ScoreCache& answers = finder_.refresh(pod, ruling);
    if (answers.best({.ruling = &ruling}).node != kNoSlot) return std::nullopt;
    return waits_for_nodes(ruling);
  }
  if (pod.in_line && must_wait_for_turn(pod)) return kWaitsForTurn;
  if (pod.told_of_turn) return std::nullopt;
  const Hold* hold = holds_.of(pod);
  const Ruling ruling = pod.apart.any() ? finder_.ruling_for(pod) : Ruling{};
  Found found;
  if (hold == nullptr && finder_.known_refusal(pod.profile, pod.shape)) {
    found.admission = world_.ledger.answers().admit(quota_of(pod), pod.demand, quota::kNoHold);
  } else {
    found = find(pod, ruling);
  }
  if (found.any()) return std::nullopt;
  if (pod.told_over_quota && !found.admission.refuses()) return std::nullopt;
  // Quota has room for the pod, but no node has: the pod gets a turn, in which a node is held for
  // it.
  if (hold != nullptr && !hold->looked_for_node && !found.admission.within.empty()) {
    return std::nullopt;
  }
  return found.waits_for(ruling);
}

quota::Standing QuotaAccounts::standing(const Entity& head) const {
  if (head.borrows_at) return *head.borrows_at;
  return ledger_.answers().standing(quota_of(head), head.demand, holds_.rank_of(head));
}
std::vector<quota::InPool> QuotaAccounts::in_pools(QueueId queue) const {
  return ledger_.answers().in_pools(QuotaId{queue});
}
bool QuotaAccounts::lends(quota::PoolId pool) const { return ledger_.answers().lends(pool); }
std::uint64_t QuotaAccounts::searched() const { return search_.searched(); }
std::optional<WaitsFor> QuotaAccounts::known_obstacle(const Entity& parked) {
  if (parked.is_group) return std::nullopt;
  return search_.known_obstacle_of(pod_of(parked));
}
std::optional<WaitsFor> QuotaAccounts::obstacle(const Entity& parked) {
  if (parked.is_group) return search_.obstacle_of(static_cast<const WaitingGroup&>(parked));
  return search_.obstacle_of(pod_of(parked));
}

}  // namespace sched
