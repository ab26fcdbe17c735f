#include "scheduler/engine/actions/preempt.h"

#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sched {
namespace {

std::string with_words(std::string message, const std::string& words) {
  if (words.empty()) return message;
  return joined(std::move(message), "preemption: " + words);
}

}  // namespace

bool Preempt::could_help(const WaitingPod& pod) const {
  if (pod.place != QueuePlace::kParked || groups_.joins_starting_group(pod)) return false;
  return pod.queue == kMainQueue || !search_.must_wait_for_turn(pod);
}

Preempt::Key Preempt::key_of(const WaitingPod& pod) {
  Apart apart = finder_.ruling_for(pod).apart(pod);
  apart.held_for = holds_.apart(pod).held_for;
  return {pod.tenant, pod.profile, pod.shape.id(), pod.order.priority, pod.queue, apart};
}

Preempt::Kind& Preempt::kind_of(const WaitingPod& pod, Time now) {
  const auto [at, is_new] = kinds_.try_emplace(key_of(pod));
  Kind& kind = at->second;
  if (is_new) {
    kind.shape = pod.shape;
    kind.pod_class = pod.pod_class;
    kind.searched = now;
  }
  kind.pods.insert_or_assign(pod.order, pod.pod.metadata.uid);
  prune(kind);
  return kind;
}

WaitingPod* Preempt::find(const std::string& uid) const {
  PodRecord* const record = world_.pods.find(uid);
  WaitingPod* const pod = record == nullptr ? nullptr : record->waiting();
  return pod != nullptr && could_help(*pod) ? pod : nullptr;
}

WaitingPod* Preempt::first_of(Kind& kind, std::size_t& refused) const {
  constexpr std::size_t kMostRefused = 32;  // behind so many no pod of the kind is looked at
  const std::size_t most = refused + kMostRefused;
  for (auto each = kind.pods.begin(); each != kind.pods.end() && refused < most;) {
    WaitingPod* const pod = find(each->second);
    if (pod == nullptr) {
      each = kind.pods.erase(each);
    } else if (is_refused(*pod)) {
      ++refused;
      ++each;
    } else {
      return pod;
    }
  }
  return nullptr;
}

WaitingPod* Preempt::first_of_its_own(Kinds::iterator kind, std::vector<Kinds::iterator>& others,
                                      std::size_t& looked_at, Time now) {
  world_.topology_rejections.forget(now);
  while (WaitingPod* const pod = first_of(kind->second, looked_at)) {
    pod->refused_binds.forget(now);
    const Key key = key_of(*pod);
    if (key == kind->first) return pod;
    ++looked_at;
    kind->second.pods.erase(pod->order);
    static_cast<void>(kind_of(*pod, now));
    others.push_back(kinds_.find(key));
  }
  return nullptr;
}

bool Preempt::is_refused(const WaitingPod& pod) {
  return objection_to(pod.pod, pod.constraints).has_value();
}

void Preempt::prune(Kind& kind) const {
  constexpr std::size_t kFew = 64;
  if (kind.pods.size() < 2 * kind.pruned_at + kFew) return;
  std::erase_if(kind.pods, [&](const auto& each) { return find(each.second) == nullptr; });
  kind.pruned_at = kind.pods.size();
}

Decision Preempt::attempt(WaitingPod& pod, decision::Unschedulable told, Time now) {
  if (!world_.profiles[pod.profile].preemption || !could_help(pod)) return told;
  if (pod.pod.spec.preemption_policy == "Never") {
    told.message =
        with_words(std::move(told.message), "not eligible due to preemptionPolicy=Never.");
    return told;
  }
  Kind& kind = kind_of(pod, now);
  const bool has_turn = kind.has_turn == pod.pod.metadata.uid;
  if (has_turn) kind.has_turn.clear();
  const bool gave_up_room = std::exchange(pod.gave_up_room, false);
  if (is_refused(pod)) {
    due_ = std::min(due_, now + kBetweenRefusals);
    return told;
  }
  const bool is_due = !is_current(kind, now) && now >= kind.again && !some_wait_;
  if (has_turn || gave_up_room || (is_due && searches_.any_left(now))) {
    const VictimSearch::Found found = search(kind, pod, now);
    if (found.best) {
      kind.from.clear();
      return evict(pod, *found.best, told, now);
    }
  } else if (const auto begun = begun_for(pod, now)) {
    return evict(pod, *begun, told, now);
  }
  due_ = std::min(due_, due(kind, now));
  told.message = with_words(std::move(told.message), kind.words);
  return told;
}

std::optional<Victims> Preempt::begun_for(const WaitingPod& pod, Time now) {
  const std::string& name = pod.pod.status.nominated_node_name;
  const NodeSlot node = name.empty() ? kNoSlot : world_.nodes.find(name);
  if (node == kNoSlot || !world_.nodes.present(node)) return std::nullopt;
  const auto& occupants = world_.nodes.occupants(node);
  const bool some_leave = std::any_of(occupants.begin(), occupants.end(),
                                      [](const Occupant* each) { return each->terminating; });
  if (!some_leave) return std::nullopt;
  VictimSearch::Found found = victims_.search_on(pod, name, now);
  searches_.spend(found.cost);
  if (!found.best || found.best->leaving.empty()) return std::nullopt;
  return std::move(found.best);
}

VictimSearch::Found Preempt::search(Kind& kind, WaitingPod& pod, Time now) {
  pod.refused_binds.forget(now);
  world_.topology_rejections.forget(now);
  if (kind.from.empty()) {
    kind.begun = versions();
    kind.until = Time::max();
  }
  VictimSearch::Found found = victims_.search(pod, kind.from, now);
  searches_.spend(found.cost);
  kind.searched = now;
  kind.seen.reset();
  // kind.from stays: the pod's turn searches again, and begins at the same node.
  if (found.best) return found;
  kind.from = found.ended_at;
  if (kind.from.empty()) kind.seen = kind.begun;
  kind.again = now + (kind.from.empty() ? kBetweenSearches : kBetweenLooks);
  // When one of these ends, the pod may use one more node, so the answer may change.
  if (const auto end = pod.refused_binds.next_end()) kind.until = std::min(kind.until, *end);
  if (const auto end = world_.topology_rejections.next_end()) {
    kind.until = std::min(kind.until, *end);
  }
  kind.until = std::min(kind.until, found.until);
  kind.words = fit_error(world_.nodes.size(), found.reasons);
  return found;
}

decision::Evict Preempt::evict(WaitingPod& pod, const Victims& victims,
                               const decision::Unschedulable& told, Time now) {
  decision::Evict evict;
  Plans::Leaving leaving;
  const auto evicts = [&](const std::string& uid) {
    const PodRecord& victim = *world_.pods.find(uid);
    const Occupant& occupant = victim.placement()->occupant();
    const PodClass& of = *occupant.pod_class;
    leaving.evicted.insert(uid);
    world_.budgets.evicted({of, *victim.name()});
    evict.victims.push_back(
        {.pod = {.namespace_ = of.namespace_, .name = *victim.name(), .uid = uid},
         .reclaimed = occupant.priority >= pod.order.priority});
  };
  for (const Occupant* one : victims.leaving) leaving.others.insert(*one->uid);
  for (const Occupant* one : victims.evicted) {
    if (!plans_.prepares(*one->uid)) {
      evicts(*one->uid);
      continue;
    }
    // That pod has no bind yet: its plan is given up, and the evictions of its plan go on for this
    // pod.
    for (const std::string& uid : plans_.evicted_for(*one->uid)) evicts(uid);
    plans_.fail(*one->uid, "a pod of higher priority gets its room");
  }
  if (holds_.of(pod) != nullptr) holds_.release(pod);
  decision::Bind bind;
  assumed_.assume(pod, victims.node, bind, now);
  evict.pod = bind.pod;
  evict.scheduler_name = bind.scheduler_name;
  evict.generation = bind.generation;
  evict.node = bind.node;
  evict.attempts = told.attempts;
  evict.details = told.details;
  std::string words = fmt::format("found a potential placement for pod on node {}, ", bind.node);
  if (!evict.victims.empty()) {
    words += fmt::format("preempting {} victims", evict.victims.size());
  } else if (!leaving.others.empty()) {
    words += fmt::format("where {} pods are being deleted", leaving.others.size());
  } else {
    words += "which a pod of lower priority was to get";
  }
  evict.message = with_words(told.message, words);
  evict.plan = plans_.wait_for_room(std::move(bind), std::move(leaving), now);
  return evict;
}

void Preempt::sort(std::vector<Kinds::iterator>& kinds) const {
  const auto tenant = [](Kinds::const_iterator kind) { return std::get<0>(kind->first); };
  const auto priority = [](Kinds::iterator kind) { return -std::get<std::int32_t>(kind->first); };
  std::map<std::uint64_t, Time> last;  // when each tenant had a search
  for (auto each = kinds_.begin(); each != kinds_.end(); ++each) {
    Time& of_tenant = last[tenant(each)];
    of_tenant = std::max(of_tenant, each->second.searched);
  }
  std::sort(kinds.begin(), kinds.end(), [&](auto a, auto b) {
    const auto order = [&](Kinds::iterator kind) {
      return std::tuple(priority(kind), tenant(kind), kind->second.searched);
    };
    return std::pair(order(a), a->first) < std::pair(order(b), b->first);
  });
  using Turn =
      std::tuple<std::int32_t, std::size_t, Time>;  // priority, turn of the tenant, its last
  std::vector<std::pair<Turn, Kinds::iterator>> in_turn;
  std::size_t turn = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool goes_on = i > 0 && tenant(kinds[i - 1]) == tenant(kinds[i]) &&
                         priority(kinds[i - 1]) == priority(kinds[i]);
    turn = goes_on ? turn + 1 : 0;
    in_turn.emplace_back(Turn(priority(kinds[i]), turn, last[tenant(kinds[i])]), kinds[i]);
  }
  std::stable_sort(in_turn.begin(), in_turn.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(in_turn.begin(), in_turn.end(), kinds.begin(),
                 [](const auto& one) { return one.second; });
}

void Preempt::wake(Time now) {
  if (const auto at = next(); !at || now < *at) return;
  last_look_ = now;
  looked_at_ = versions();
  due_ = Time::max();
  std::vector<Kinds::iterator> are_due;
  std::size_t refused = 0;
  for (auto each = kinds_.begin(); each != kinds_.end();) {
    const auto at = each++;
    Kind& kind = at->second;
    if (const Time then = due(kind, now); then > now) {
      due_ = std::min(due_, then);
    } else if (first_of(kind, refused) != nullptr) {
      are_due.push_back(at);
    } else if (!kind.pods.empty()) {
      kind.again = now + kBetweenSearches;
      due_ = std::min(due_, now + kBetweenRefusals);
    } else if (!has_turn(kind)) {
      kinds_.erase(at);
    }
  }
  some_wait_ = !are_due.empty() && !searches_.any_left(now);
  if (!are_due.empty() && !some_wait_) sort(are_due);
  for (std::size_t i = 0; i < are_due.size(); ++i) {
    const Kinds::iterator each = are_due[i];
    Kind& kind = each->second;
    if (const Time then = due(kind, now); then > now) {
      due_ = std::min(due_, then);
      continue;
    }
    if (has_turn(kind)) {
      due_ = std::min(due_, now + kBetweenSearches);
      continue;
    }
    if (!searches_.any_left(now)) {
      some_wait_ = true;
      break;
    }
    WaitingPod* const pod = first_of_its_own(each, are_due, refused, now);
    // A pod that is of two kinds may have had its turn by the other one just now.
    if (pod == nullptr) continue;
    if (!search(kind, *pod, now).best) {
      due_ = std::min(due_, due(kind, now));
      continue;
    }
    kind.has_turn = pod->pod.metadata.uid;
    // The turn may find no victims after all; then the other pods of the kind need another search.
    due_ = std::min(due_, now + kBetweenSearches);
    queue_.activate(*pod, QueueEvent::kObjectChange);
  }
  if (some_wait_) due_ = now;
  // At the end: after each look there is a search, however many kinds were looked at.
  searches_.spend(kCostOfLook * (kinds_.size() + refused));
}

bool Preempt::has_turn(const Kind& kind) const {
  const PodRecord* record = kind.has_turn.empty() ? nullptr : world_.pods.find(kind.has_turn);
  return record != nullptr && record->waiting() != nullptr &&
         record->waiting()->place == QueuePlace::kActive;
}

std::optional<Time> Preempt::next() const {
  if (kinds_.empty()) return std::nullopt;
  const Time then = std::max(last_look_ + kBetweenLooks, searches_.next());
  if (looked_at_ != versions()) return then;
  if (due_ == Time::max()) return std::nullopt;
  return std::max(due_, then);
}

}  // namespace sched
