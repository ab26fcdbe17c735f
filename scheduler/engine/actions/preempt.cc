#include "scheduler/engine/actions/preempt.h"

#include "scheduler/engine/report/fit_error.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

namespace sched {
namespace {

std::string with_words(std::string message, const std::string& words) {
  if (words.empty()) return message;
  return fmt::format("{} preemption: {}", std::move(message), words);
}

}  // namespace

Preempt::Preempt(World& world, Finder& finder, Queues& queue, const Holds& holds,
                 const QuotaSearch& search, Plans& plans)
    : world_(world),
      queue_(queue),
      search_(search),
      plans_(plans),
      victims_(world, finder, holds, plans) {}

bool Preempt::could_help(const WaitingPod& pod) const {
  if (!world_.preempts() || !world_.profiles[pod.profile].preemption) return false;
  if (pod.place != QueuePlace::kParked) return false;
  return pod.queue == kMainQueue || !search_.must_wait_for_turn(pod);
}

Preempt::Key Preempt::key_of(const WaitingPod& pod) {
  return {pod.profile, pod.shape.id(), pod.order.priority, pod.queue, pod.apart};
}

Decision Preempt::attempt(WaitingPod& pod, decision::Unschedulable told, Time now) {
  if (!could_help(pod)) return told;
  if (pod.pod.spec.preemption_policy == "Never") {
    told.message =
        with_words(std::move(told.message), "not eligible due to preemptionPolicy=Never.");
    return told;
  }
  const Key key = key_of(pod);
  const auto known = kinds_.find(key);
  if (known != kinds_.end() && (known->second.seen == versions() || now < known->second.again)) {
    told.message = with_words(std::move(told.message), known->second.words);
    return told;
  }
  Kind kind{.shape = pod.shape, .words = {}};
  if (may_search(now)) {
    const VictimSearch::Found found = search(pod);
    if (found.best) return evict(pod, *found.best, told, now);
    kind.words = fit_error(world_.nodes.size(), found.reasons);
    kind.seen = versions();
    kind.again = now + kBetweenSearches;
  }
  next_look_ = std::min(next_look_, std::max(now, kind.again));
  told.message = with_words(std::move(told.message), kind.words);
  kinds_.insert_or_assign(key, std::move(kind));
  return told;
}

bool Preempt::may_search(Time now) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const std::int64_t passed = duration_cast<milliseconds>(now - may_cost_at_).count();
  if (passed >= 1'000) {
    may_cost_ = std::max(may_cost_, std::min(kCostPerSecond, may_cost_ + kCostPerSecond));
    may_cost_at_ = now;
  } else if (passed > 0) {
    may_cost_ = std::min(kCostPerSecond, may_cost_ + passed * (kCostPerSecond / 1'000));
    may_cost_at_ += milliseconds(passed);
  }
  return may_cost_ > 0;
}

VictimSearch::Found Preempt::search(const WaitingPod& pod) {
  VictimSearch::Found found = victims_.search(pod);
  may_cost_ -= static_cast<std::int64_t>(found.cost);
  return found;
}

decision::Evict Preempt::evict(WaitingPod& pod, const Victims& victims,
                               const decision::Unschedulable& told, Time now) {
  decision::Evict evict;
  std::set<std::string> leaving;
  for (const Occupant* one : victims.leaving) leaving.insert(*one->uid);
  for (const Occupant* one : victims.evicted) {
    const PodClass& of = *one->pod_class;
    if (plans_.prepares(*one->uid)) {
      plans_.fail(*one->uid, "a pod of higher priority gets its room");
      continue;
    }
    leaving.insert(*one->uid);
    const std::string& name = *world_.pods.find(*one->uid)->name();
    world_.budgets.evicted({of, name});
    evict.victims.push_back({.namespace_ = of.namespace_, .name = name, .uid = *one->uid});
  }
  decision::Bind bind;
  plans_.assume(pod, victims.node, bind, now);
  evict.pod = bind.pod;
  evict.scheduler_name = bind.scheduler_name;
  evict.generation = bind.generation;
  evict.node = bind.node;
  evict.attempts = told.attempts;
  evict.details = told.details;
  std::string words = fmt::format("found a potential placement for pod on node {}, ", bind.node);
  if (!victims.evicted.empty()) {
    words += fmt::format("preempting {} victims", victims.evicted.size());
  } else {
    words += fmt::format("where {} pods are being deleted", victims.leaving.size());
  }
  evict.message = with_words(told.message, words);
  evict.plan = plans_.wait_for_room(std::move(bind), std::move(leaving), now);
  return evict;
}

WaitingPod* Preempt::first_of(const Key& key) {
  WaitingPod* first = nullptr;
  for (Entity* entity : queue_.entities()) {
    if (entity->place != QueuePlace::kParked || (first && first->order < entity->order)) continue;
    WaitingPod& pod = pod_of(*entity);
    if (key_of(pod) == key && could_help(pod)) first = &pod;
  }
  may_cost_ -= static_cast<std::int64_t>(queue_.entities().size());
  return first;
}

void Preempt::wake(Time now) {
  if (kinds_.empty() || now < next_look_ || woken_at_ == versions()) return;
  std::optional<Time> next;  // when the first of those that are left may be searched for
  for (auto each = kinds_.begin(); each != kinds_.end();) {
    const auto at = each++;
    Kind& kind = at->second;
    if (kind.seen == versions()) continue;
    if (now < kind.again || !may_search(now)) {
      next = std::min(next.value_or(kind.again), kind.again);
      continue;
    }
    WaitingPod* const pod = first_of(at->first);
    if (pod == nullptr) {
      kinds_.erase(at);
      continue;
    }
    VictimSearch::Found found = search(*pod);
    if (found.best) {
      queue_.activate(*pod, QueueEvent::kObjectChange);
      kinds_.erase(at);
      continue;
    }
    kind.words = fit_error(world_.nodes.size(), found.reasons);
    kind.seen = versions();
    kind.again = now + kBetweenSearches;
  }
  if (!next) woken_at_ = versions();
  next_look_ = std::max(next.value_or(now), now + kBetweenLooks);
}

std::optional<Time> Preempt::next() const {
  if (kinds_.empty() || woken_at_ == versions()) return std::nullopt;
  return next_look_;
}

}  // namespace sched
