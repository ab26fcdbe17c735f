// No starvation: what is kept for the first in line of a quota that has waited long.
//
// Quota first: what becomes free in the line that it needs is kept for it (Ledger::hold). If quota
// has room and no node has, it holds a node besides: a claim on what it needs there, which
// everybody else sees and its own view leaves out, so that no smaller pod takes what is freed
// meanwhile. The node is the one that lacks least; how long the pods there still run is not known.
// One that goes, or is cordoned or changed so that it could never take the pod, is let go at once,
// and another is looked for.
//
// For a pod that no node could take even if it were empty, or that its quota could never take
// within the guarantee, nothing is kept: it would keep its quota from all others for nothing. It is
// passed over, and what it was not given is kept for the next one in line that has waited as long.
// (Of a Strict quota nobody is passed over, for nobody behind may have his turn.)
#include "scheduler/engine/state.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

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

// The hold of the pod's quota, if it is the pod's.
template <typename Holds>
auto* own_hold(Holds& holds, const WaitingPod& pod) {
  const auto found = holds.find(pod.queue);
  const bool its_own = found != holds.end() && found->second.arrival == pod.order.arrival;
  return its_own ? &found->second : nullptr;
}

}  // namespace

Engine::State::Hold* Engine::State::hold_for(const WaitingPod& pod) {
  return own_hold(holds_, pod);
}

const Engine::State::Hold* Engine::State::hold_for(const WaitingPod& pod) const {
  return own_hold(holds_, pod);
}

void Engine::State::release_hold(QueueId queue) {
  const auto released = holds_.find(queue);
  if (released == holds_.end()) return;
  const bool had_node = released->second.on.has_value();
  holds_.erase(released);
  ledger_.release(quota::QuotaId{queue});
  if (!had_node) return;
  // Who found all nodes held looks again.
  for (auto& [other, hold] : holds_) hold.sought = hold.sought && hold.on;
}

void Engine::State::renew_holds(Time now) {
  const Seen seen{queue_.version(), ledger_.version(), nodes_.facts_version()};
  if (seen == holds_seen_ && (!next_hold_ || now < *next_hold_)) return;
  holds_seen_ = seen;
  next_hold_ = std::nullopt;
  queue_.for_each_quota(
      [&](QueueId id, const PodQueue& queue) { renew_hold(id, queue.line(), now); });
  // Who is not asked for any more has been placed, or is gone.
  std::erase_if(reach_, [](const auto& entry) { return !entry.second.in_use; });
  for (auto& [shape, reach] : reach_) reach.in_use = false;
}

void Engine::State::renew_hold(QueueId queue, const WaitingLine& line, Time now) {
  const quota::QuotaId quota{queue};
  const auto is_renewed = [&](const WaitingPod& pod) {
    const Hold* hold = hold_for(pod);
    return hold != nullptr && ledger_.holds(quota) && hold->classes == reach_of(pod, now);
  };
  if (line.first() != nullptr && is_renewed(*line.first())) return renew_node(*line.first());
  WaitingPod* pod = next_to_hold(quota, line, now);
  const auto known = holds_.find(queue);
  if (known != holds_.end() && (pod == nullptr || hold_for(*pod) == nullptr)) release_hold(queue);
  if (pod == nullptr) return;
  if (is_renewed(*pod)) return renew_node(*pod);
  // Its turn comes first, then its patience.
  Hold* hold = hold_for(*pod);
  if (hold == nullptr && pod->place != QueuePlace::kParked) return;
  // Quotas or nodes have changed: a node that is held meanwhile stays so, if it still serves.
  const std::vector<quota::ClassId>& classes = reach_of(*pod, now);
  if (!ledger_.hold(quota, pod->demand, classes)) return release_hold(queue);
  if (hold == nullptr) hold = &holds_[queue];
  hold->arrival = pod->order.arrival;
  hold->classes = classes;
  hold->sought = false;
  if (pod->place == QueuePlace::kParked) queue_.activate(*pod);
}

void Engine::State::renew_node(WaitingPod& pod) {
  Hold& hold = *hold_for(pod);
  if (!hold.on || hold.facts_version == nodes_.facts_version()) return;
  hold.facts_version = nodes_.facts_version();
  if (could_ever_hold(pod, hold.on->node())) return;
  hold.on.reset();
  hold.sought = false;
  if (pod.place == QueuePlace::kParked) queue_.activate(pod);
}

bool Engine::State::could_ever_hold(const WaitingPod& pod, NodeSlot node) {
  if (!nodes_.present(node)) return false;
  const PreparedShape& prepared = caches_.get(pod.profile, pod.shape).prepared();
  const NodeUsage nothing;
  return !prepared.rejection() && prepared.check({nodes_.facts(node), nothing}).is_ok();
}

WaitingPod* Engine::State::next_to_hold(quota::QuotaId quota, const WaitingLine& line, Time now) {
  // Who is behind so many that cannot be helped waits until somebody has looked after those.
  constexpr int kMostPassedOver = 100;
  const auto due = [&](const WaitingPod& pod) {
    return pod.waits_since + options_.quota.hold_after;
  };
  // Pods of one shape are helped by the same; they often stand one behind another.
  const WaitingPod* asked = nullptr;
  bool answer = false;
  const auto can_be_helped = [&](const WaitingPod& pod) {
    const bool alike =
        asked != nullptr && asked->profile == pod.profile && asked->shape.id() == pod.shape.id();
    if (!alike) answer = ledger_.could_hold(quota, pod.demand, reach_of(pod, now));
    asked = &pod;
    return answer;
  };
  int passed_over = 0;
  WaitingPod* pod = line.first_that([&](const WaitingPod& each) {
    return now < due(each) || can_be_helped(each) || ledger_.is_strict(quota) ||
           ++passed_over == kMostPassedOver;
  });
  if (pod == nullptr) return nullptr;
  if (now >= due(*pod)) return can_be_helped(*pod) ? pod : nullptr;
  next_hold_ = next_hold_ ? std::min(*next_hold_, due(*pod)) : due(*pod);
  return nullptr;
}

const std::vector<quota::ClassId>& Engine::State::reach_of(const WaitingPod& pod, Time now) {
  constexpr std::chrono::seconds kLooksAgain{10};
  Reach& reach = reach_[{pod.profile, pod.shape.id()}];
  reach.in_use = true;
  if (reach.facts_version == nodes_.facts_version()) return reach.classes;
  if (reach.facts_version && now < reach.at + kLooksAgain) {
    const Time again = reach.at + kLooksAgain;
    next_hold_ = next_hold_ ? std::min(*next_hold_, again) : again;
    return reach.classes;
  }
  reach.shape = pod.shape;
  reach.facts_version = nodes_.facts_version();
  reach.at = now;
  reach.classes.clear();
  const PreparedShape& prepared = caches_.get(pod.profile, pod.shape).prepared();
  if (prepared.rejection()) return reach.classes;
  const NodeUsage nothing;
  std::vector<bool> seen(ledger_.classes().size());
  for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
    if (!nodes_.present(slot)) continue;
    const NodeFacts& facts = nodes_.facts(slot);
    // One node of a class that could take it is enough.
    if (seen[facts.charge_class] || !prepared.check({facts, nothing}).is_ok()) continue;
    seen[facts.charge_class] = true;
  }
  for (quota::ClassId id = 0; id < seen.size(); ++id) {
    if (seen[id]) reach.classes.push_back(id);
  }
  return reach.classes;
}

void Engine::State::hold_node(const WaitingPod& pod, Confinement confinement) {
  Hold& hold = *hold_for(pod);
  hold.sought = true;
  const ScoreCache& cache = caches_.get(pod.profile, pod.shape, confinement);
  if (cache.prepared().rejection()) return;
  const NodeUsage nothing;
  const auto could_take_it = [&](NodeSlot slot) {
    return nodes_.present(slot) && confinement.allows(nodes_.facts(slot)) &&
           cache.prepared().check({nodes_.facts(slot), nothing}).is_ok();
  };
  if (hold.on) {
    if (could_take_it(hold.on->node())) return;
    hold.on.reset();
  }
  std::optional<std::pair<Lack, NodeSlot>> best;
  for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
    const bool taken = std::any_of(holds_.begin(), holds_.end(), [&](const auto& other) {
      return other.second.on && other.second.on->node() == slot;
    });
    if (taken || !could_take_it(slot)) continue;
    const std::pair candidate{lack_of(*pod.shape, names_, nodes_.view(slot), nodes_.rank(slot)),
                              slot};
    if (!best || candidate < *best) best = candidate;
  }
  if (best) hold.on.emplace(nodes_, best->second, claim_of(*pod.shape));
}

bool Engine::State::held_node_has_room(const WaitingPod& pod, const quota::Admission& admission) {
  Hold* hold = hold_for(pod);
  if (hold == nullptr || !hold->on) return false;
  const NodeSlot node = hold->on->node();
  if (!nodes_.present(node)) return false;
  const auto& within = admission.within;
  const NodeFacts& facts = nodes_.facts(node);
  if (!std::binary_search(within.begin(), within.end(), facts.charge_class)) return false;
  const ScoreCache& cache = caches_.get(pod.profile, pod.shape, confined_to(within));
  if (cache.prepared().rejection()) return false;
  const NodeUsage without = nodes_.usage_without(node, hold->on->claim());
  return cache.prepared().check({facts, without}).is_ok();
}

Decision Engine::State::assume_held(WaitingPod& pod) {
  const NodeSlot node = hold_for(pod)->on->node();
  release_hold(pod.queue);
  return assume_on(pod, caches_.get(pod.profile, pod.shape), node);
}

}  // namespace sched
