#include "scheduler/engine/actions/place_group.h"

#include "scheduler/engine/report/fit_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace sched {
namespace {

constexpr const char* kPlugin = "PodGroup";

// A controller creates the pods of a group one after the other: that some are missing is told when
// none has come for so long.
constexpr std::chrono::seconds kQuiet{1};

}  // namespace

void PlaceGroup::wake(Time now) {
  if (WaitingGroup* group = retries_.next(now)) {
    queue_.activate(*group, QueueEvent::kObjectChange);
  }
}

void PlaceGroup::attempt(WaitingGroup& group, Time now) {
  const bool is_retry = retries_.has_turn(group);
  decide_on(group, is_retry, now);
  wake(now);
}

void PlaceGroup::decide_on(WaitingGroup& group, bool is_retry, Time now) {
  if (groups_.has_started(group)) {
    for (WaitingPod* pod : groups_.disband(group)) queue_.activate(*pod, QueueEvent::kObjectChange);
    return;
  }
  if (group.members.size() < group.min_count) return wait_for_pods(group, now);
  if (group.queue != kMainQueue && search_.must_wait_for_turn(group)) {
    tell(group, {.message = words_.behind(group),
                 .details = {},
                 .plugins = {std::string(kQuotaPlugin)},
                 .reason = decision::Unschedulable::Reason::kGpuQuotaExceeded});
    return queue_.park(group, {}, kWaitsForTurn, now + world_.options.max_unschedulable_wait);
  }
  if (is_refused(group, now)) return;
  if (group.waited_for != 0 && !is_retry && !retries_.may_try(group, now)) {
    return queue_.park(group, group.apart, group.waited_for,
                       now + world_.options.max_unschedulable_wait);
  }
  for (const WaitingGroup::Member& member : group.members) member.pod->refused_binds.forget(now);
  world_.topology_rejections.forget(now);
  const GroupSearch::Found found = seats_.find(group);
  if (found.seats.size() < group.min_count) return park(group, found, now);
  if (const auto at = others_borrow_first(group, found)) return queue_.borrows_at(group, *at);
  start(group, found, now);
}

void PlaceGroup::wait_for_pods(WaitingGroup& group, Time now) {
  if (now < group.joined + kQuiet) return queue_.refuse(group, {}, group.joined + kQuiet);
  tell(group, {.message = missing_pods(group), .details = {}, .plugins = {kPlugin}, .reason = {}});
  queue_.refuse(group, {}, now + world_.options.max_unschedulable_wait);
}

bool PlaceGroup::is_refused(WaitingGroup& group, Time now) {
  for (const WaitingGroup::Member& member : group.members) {
    const WaitingPod& pod = *member.pod;
    auto objection = objection_to(pod.pod, pod.constraints);
    if (!objection) continue;
    tell(group, {.message = fit_error(world_.nodes.size(), objection->refusal.reason),
                 .details = fmt::format("This is about pod {} of its group {}.",
                                        pod.pod.metadata.name, group.name),
                 .plugins = {std::string(objection->by->name())},
                 .reason = {}});
    queue_.refuse(group, std::move(objection->refusal.awaits),
                  now + world_.options.max_unschedulable_wait);
    return true;
  }
  return false;
}

std::optional<quota::Standing> PlaceGroup::others_borrow_first(const WaitingGroup& group,
                                                               const GroupSearch::Found& found) {
  for (const quota::ChargeClassId on : found.borrowed) {
    const quota::Standing at =
        world_.ledger.standing_on(on, quota_of(group), group.demand, holds_.rank_of(group));
    if (!queue_.comes_first(group, at)) return at;
  }
  return std::nullopt;
}

void PlaceGroup::start(WaitingGroup& group, const GroupSearch::Found& found, Time now) {
  std::vector<WaitingPod*> others = groups_.disband(group);
  for (const GroupSearch::Seat& seat : found.seats) {
    // What a trial finds is so. If it ever were not, no GPU is given twice: the pod is placed by
    // itself.
    auto decided = place_.assume_on(*seat.pod, seat.scope, seat.node, now);
    if (!decided) continue;
    decided_.push_back(*std::move(decided));
    std::erase(others, seat.pod);
  }
  for (WaitingPod* pod : others) queue_.activate(*pod, QueueEvent::kObjectChange);
}

void PlaceGroup::park(WaitingGroup& group, const GroupSearch::Found& found, Time now) {
  Time again = now + world_.options.max_unschedulable_wait;
  retries_.spend(found.cost);
  if (Hold* hold = holds_.of(group)) hold->looked_for_node = true;
  if (group.queue != kMainQueue) holds_.looked_at(group, now);
  Apart apart;
  WaitsFor waits_for = found.waits_for;
  if (found.by_rules) {
    apart.arrival = group.order.arrival;
    waits_for |= kWaitsForOthers;
    for (const WaitingGroup::Member& member : group.members) {
      if (const auto end = member.pod->refused_binds.next_end()) again = std::min(again, *end);
    }
    if (const auto end = world_.topology_rejections.next_end()) again = std::min(again, *end);
  }
  // A change may help another of its pods than the largest.
  group.least_room = {};
  group.waited_for = waits_for;
  std::string room =
      fmt::format("There is room for {} of the {} pods that start together as group {}.",
                  found.seats.size(), group.min_count, group.name);
  if (found.ended) room += " The search for more took too long, and was ended.";
  if (found.by_quota) {
    tell(group, {.message = words_.of(group),
                 .details = room,
                 .plugins = {std::string(kQuotaPlugin)},
                 .reason = decision::Unschedulable::Reason::kGpuQuotaExceeded});
  } else {
    tell(group,
         {.message = found.message, .details = room, .plugins = found.plugins, .reason = {}});
  }
  queue_.park(group, apart, waits_for, again);
}

Decision PlaceGroup::refuse(WaitingPod& pod, const std::string& problem, Time now) {
  queue_.refuse(pod, {}, now + world_.options.max_unschedulable_wait);
  return refusal_of(pod, problem);
}

std::optional<Decision> PlaceGroup::keep_out(WaitingPod& pod, const PodGroup& group, Time now) {
  queue_.back_off(pod, now + world_.options.max_backoff);
  if (pod.attempts > 0) return std::nullopt;
  return refusal_of(
      pod, fmt::format("{} pods of group {} wait already", PodGroup::kMostPods, group.name));
}

Decision PlaceGroup::refusal_of(WaitingPod& pod, const std::string& problem) const {
  return decision::Unschedulable{.pod = ref_of(pod.pod),
                                 .scheduler_name = pod.pod.spec.scheduler_name,
                                 .generation = pod.pod.metadata.generation,
                                 .message = fit_error(world_.nodes.size(), problem),
                                 .details = {},
                                 .plugins = {kPlugin},
                                 .attempts = ++pod.attempts};
}

void PlaceGroup::tell(WaitingGroup& group, const Told& told) {
  group.told = told.details.empty() ? told.message : told.message + " " + told.details;
  for (const WaitingGroup::Member& member : group.members) {
    WaitingPod& pod = *member.pod;
    if (pod.last_refusal == group.told) continue;
    pod.last_refusal = group.told;
    decided_.emplace_back(decision::Unschedulable{.pod = ref_of(pod.pod),
                                                  .scheduler_name = pod.pod.spec.scheduler_name,
                                                  .generation = pod.pod.metadata.generation,
                                                  .message = told.message,
                                                  .details = told.details,
                                                  .plugins = told.plugins,
                                                  .attempts = ++pod.attempts,
                                                  .reason = told.reason});
  }
}

std::optional<Decision> PlaceGroup::next() {
  if (decided_.empty()) return std::nullopt;
  std::optional<Decision> decided(std::move(decided_.front()));
  decided_.pop_front();
  return decided;
}

}  // namespace sched
