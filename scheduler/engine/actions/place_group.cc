#include "scheduler/engine/actions/place_group.h"

#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

namespace sched {
namespace {

using Reason = decision::Unschedulable::Reason;

// A controller creates the pods of a group one after the other. So missing pods are reported only
// when no pod of the group has come for this long.
constexpr std::chrono::seconds kQuiet{1};
// The numbers in a message change with each attempt, and a group may have a thousand pods. So a
// message of which only the numbers are new is written again only after this time.
constexpr std::chrono::seconds kBetweenMessages{30};
// The time until the next attempt if no known event would wake the group or the pod.
constexpr std::chrono::minutes kTriesAgain{1};

// To compare texts: they count as equal if only their numbers differ.
std::string without_numbers(std::string text) {
  std::erase_if(text, [](char each) { return each >= '0' && each <= '9'; });
  return text;
}

std::string about_pod(const WaitingPod& pod, const WaitingGroup& group) {
  return fmt::format("This is about pod {} of its group {}.", pod.pod.metadata.name, group.name);
}

// What as many pods of the group as start together ask for at least, of the types that its largest
// allows; nullopt: their demands cannot be compared.
std::optional<std::vector<const quota::Demand*>> least_demands(const WaitingGroup& group) {
  std::vector<const quota::Demand*> demands;
  for (const WaitingGroup::Member& member : group.members) demands.push_back(&member.pod->demand);
  if (demands.size() > group.min_count) {
    const bool comparable =
        std::all_of(demands.begin(), demands.end(), [&](const quota::Demand* each) {
          const bool alike = each->allowed == demands.front()->allowed && each->is_of_gpus_alone();
          return alike || *each == *demands.front();
        });
    if (!comparable) return std::nullopt;
    std::stable_sort(demands.begin(), demands.end(),
                     [](const auto* a, const auto* b) { return a->gpus < b->gpus; });
    demands.resize(group.min_count);
  }
  std::erase_if(demands, [&](const quota::Demand* each) {
    return each->is_none() || each->allowed != group.demand.allowed;
  });
  return demands;
}

}  // namespace

void PlaceGroup::wake(Time now) {
  if (WaitingGroup* group = retries_.next(now)) queue_.activate(*group, QueueEvent::kUncounted);
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
    const Time again = tell(group,
                            {.message = words_.behind(group),
                             .details = {},
                             .plugins = {std::string(kQuotaPlugin)},
                             .reason = Reason::kGpuQuotaExceeded},
                            now);
    group.told_of_turn = true;
    return queue_.park(group, {}, kWaitsForTurn, again);
  }
  group.told_of_turn = false;
  // With `borrows_at` the last search found room, and the group only waited for its turn: the
  // search is repeated without an allowance.
  if (group.was_tried && !is_retry && !group.borrows_at && !retries_.may_try(group, now)) {
    return queue_.park(group, group.apart, group.waited_for,
                       now + world_.options.max_unschedulable_wait, QueueEvent::kUncounted);
  }
  group.told_over_quota = false;
  const Refused refused = refused_of(group);
  if (group.members.size() - refused.pods.size() < group.min_count) {
    return refuse(group, refused, now);
  }
  for (const WaitingGroup::Member& member : group.members) member.pod->refused_binds.forget(now);
  world_.topology_rejections.forget(now);
  GroupSearch::Found found = seats_.find(group, refused.pods);
  search_.has_searched(found.cost - found.searched);
  if (found.seats.size() < group.min_count) {
    return park(group, found, !refused.pods.empty(), now);
  }
  if (const auto at = others_borrow_first(group, found)) {
    if (group.was_tried) retries_.spend(found.cost);
    return queue_.borrows_at(group, *at);
  }
  if (start(group, found, now)) return;
  if (group.was_tried) retries_.spend(2 * found.cost);
  group.was_tried = true;
  const Time again =
      tell(group,
           {.message = fit_error(world_.nodes.size(), "the pods of a group exclude each other"),
            .details = fmt::format("This is about group {}.", group.name),
            .plugins = {std::string(kPodGroupPlugin)},
            .reason = {}},
           now);
  group.never = false;
  queue_.refuse(group, {}, std::min(again, now + kTriesAgain));
}

void PlaceGroup::wait_for_pods(WaitingGroup& group, Time now) {
  const Time quiet = group.joined + kQuiet;
  if (now < quiet) return queue_.refuse(group, {}, quiet, QueueEvent::kUncounted);
  const Time again = tell(group,
                          {.message = missing_pods(group),
                           .details = {},
                           .plugins = {std::string(kPodGroupPlugin)},
                           .reason = Reason::kWaitingForPods},
                          now);
  queue_.refuse(group, {}, again);
}

PlaceGroup::Refused PlaceGroup::refused_of(const WaitingGroup& group) {
  Refused refused;
  const bool all_are_needed = group.members.size() <= group.min_count;
  for (const WaitingGroup::Member& member : group.members) {
    const WaitingPod& pod = *member.pod;
    if (pod.constraints.empty()) continue;
    auto objection = objection_to(pod.pod, pod.constraints);
    if (!objection) continue;
    refused.pods.insert(&pod);
    if (refused.why && all_are_needed) continue;
    const std::vector<ObjectKey>& awaits = objection->refusal.awaits;
    refused.awaits.insert(awaits.begin(), awaits.end());
    if (refused.why) continue;
    refused.first = &pod;
    refused.why = std::move(objection);
  }
  return refused;
}

void PlaceGroup::refuse(WaitingGroup& group, const Refused& refused, Time now) {
  const Time again = tell(group,
                          {.message = fit_error(world_.nodes.size(), refused.why->refusal.reason),
                           .details = about_pod(*refused.first, group),
                           .plugins = {std::string(refused.why->by->name())},
                           .reason = {}},
                          now);
  group.never = refused.why->refusal.awaits.empty();
  queue_.refuse(group, {refused.awaits.begin(), refused.awaits.end()}, again);
}

std::optional<quota::Standing> PlaceGroup::others_borrow_first(const WaitingGroup& group,
                                                               const GroupSearch::Found& found) {
  for (const quota::ChargeClassId on : found.borrowed) {
    const quota::Standing at = world_.ledger.answers().standing_on(
        on, quota_of(group), group.demand, holds_.rank_of(group));
    if (!queue_.comes_first(group, at)) return at;
  }
  return std::nullopt;
}

bool PlaceGroup::start(WaitingGroup& group, const GroupSearch::Found& found, Time now) {
  std::vector<Decision> decided;
  for (const GroupSearch::Seat& seat : found.seats) {
    const WaitingPod& pod = *seat.pod;
    std::optional<Decision> one;
    if (!objection_to(pod.pod, pod.constraints)) {
      one = place_.assume_on(*seat.pod, seat.scope, seat.node, now);
    }
    if (!one) {
      for (std::size_t i = decided.size(); i-- > 0;) {
        plans_.take_back(found.seats[i].pod->pod.metadata.uid);
      }
      return false;
    }
    decided.push_back(*std::move(one));
  }
  plans_.start_together(decided, group.min_count, now);
  for (WaitingPod* pod : groups_.disband(group)) {
    const bool has_seat = world_.pods.find(pod->pod.metadata.uid)->placement().has_value();
    if (!has_seat) queue_.activate(*pod, QueueEvent::kObjectChange);
  }
  for (Decision& one : decided) decided_.add(std::move(one));
  return true;
}

const WaitingPod* PlaceGroup::hopeless_pod_of(const WaitingGroup& group) const {
  if (group.queue == kMainQueue) return nullptr;
  std::map<std::uint32_t, bool> never_fits;  // by kind
  const WaitingPod* first = nullptr;
  std::size_t others = 0;
  for (const WaitingGroup::Member& member : group.members) {
    const WaitingPod& pod = *member.pod;
    const auto [kind, is_new] = never_fits.try_emplace(pod.kind, false);
    if (is_new && !pod.demand.is_none()) {
      kind->second = world_.ledger.answers().never_fits(quota_of(group), pod.demand);
    }
    if (!kind->second) {
      ++others;
    } else if (first == nullptr) {
      first = &pod;
    }
  }
  return others < group.min_count ? first : nullptr;
}

void PlaceGroup::park(WaitingGroup& group, const GroupSearch::Found& found, bool some_refused,
                      Time now) {
  Time again = Time::max();
  if (group.was_tried) retries_.spend(found.cost);
  group.was_tried = true;
  if (Hold* hold = holds_.of(group)) hold->looked_for_node = true;
  if (group.queue != kMainQueue) holds_.looked_at(group, now);
  Apart apart;
  WaitsFor waits_for = found.waits_for;
  if (found.ended) waits_for |= kWaitsForNodes;
  // If the quota can never give the group so much, the group must not block the entities behind it.
  const auto least = found.by_quota ? least_demands(group) : std::nullopt;
  const quota::QuotaAnswers& answers = world_.ledger.answers();
  const WaitingPod* hopeless = nullptr;
  if (least && answers.never_fit_together(quota_of(group), *least)) {
    waits_for = kWaitsForChange;
  } else if ((hopeless = hopeless_pod_of(group)) != nullptr) {
    waits_for = kWaitsForChange;
  } else if (found.by_rules) {
    apart.arrival = group.order.arrival;
    waits_for |= kWaitsForOthers;
    for (const WaitingGroup::Member& member : group.members) {
      if (const auto end = member.pod->refused_binds.next_end()) again = std::min(again, *end);
    }
    if (const auto end = world_.topology_rejections.next_end()) again = std::min(again, *end);
  }
  // No least room: a change may help a smaller pod of the group than the largest.
  group.least_room = {};
  group.waited_for = waits_for;
  group.never = found.never;
  std::string room =
      fmt::format("There is room for {} of the {} pods that start together as group {}.",
                  found.seats.size(), group.min_count, group.name);
  if (found.ended) room += " The search for more took too long, and was ended.";
  Told told{.message = found.message,
            .details = std::move(room),
            .plugins = found.plugins,
            .reason = Reason::kUnschedulable};
  if (found.by_quota || hopeless != nullptr) {
    told.message = words_.of(group);
    told.plugins = {std::string(kQuotaPlugin)};
    told.reason = Reason::kGpuQuotaExceeded;
    group.told_over_quota = hopeless == nullptr;
    const WaitingPod& about = hopeless != nullptr ? *hopeless : *found.without_seat;
    // No line has enough for all of them, but several may have that.
    const bool in_parts =
        waits_for != kWaitsForChange && answers.never_fits(quota_of(group), group.demand);
    const bool of_pod = hopeless != nullptr || in_parts;
    if (of_pod || about.demand.allowed != group.demand.allowed) {
      const quota::Demand asked = of_pod ? about.demand : asked_like(group, about);
      told.message = words_.of({.quota = quota_of(group),
                                .demand = asked,
                                .namespace_ = about.pod.metadata.namespace_,
                                .waiting = &group});
      told.details = joined(about_pod(about, group), told.details);
    }
  } else if (told.message.empty()) {
    told.message = fit_error(world_.nodes.size(), "not enough of them were found for a group");
    told.plugins = {std::string(kPodGroupPlugin)};
  }
  again = std::min(again, tell(group, told, now));
  // A change of what they are refused for does not wake a parked group.
  if (some_refused) again = std::min(again, now + kTriesAgain);
  queue_.park(group, apart, waits_for, again);
}

Decision PlaceGroup::refuse(WaitingPod& pod, const std::string& problem, Time now) {
  pod.never = true;
  queue_.refuse(pod, {}, now + world_.options.max_unschedulable_wait);
  return refusal_of(pod, problem);
}

Decision PlaceGroup::keep_out(WaitingPod& pod, const PodGroup& group, Time now) {
  pod.never = false;
  queue_.refuse(pod, {}, now + kTriesAgain);
  const char* const what = groups_.joins_starting_group(pod) ? "start" : "wait";
  return refusal_of(
      pod, fmt::format("{} pods of group {} {} already", PodGroup::kMostPods, group.name, what));
}

Decision PlaceGroup::refusal_of(WaitingPod& pod, const std::string& problem) const {
  return decision::Unschedulable{.pod = ref_of(pod.pod),
                                 .scheduler_name = pod.pod.spec.scheduler_name,
                                 .generation = pod.pod.metadata.generation,
                                 .message = fit_error(world_.nodes.size(), problem),
                                 .details = {},
                                 .plugins = {std::string(kPodGroupPlugin)},
                                 .attempts = ++pod.attempts};
}

Time PlaceGroup::tell(WaitingGroup& group, const Told& told, Time now) {
  std::string text = joined(told.message, told.details);
  const bool is_other = without_numbers(text) != without_numbers(group.told);
  const bool to_all =
      (is_other && group.messages.take(now)) || now >= group.told_at + kBetweenMessages;
  group.told = std::move(text);
  if (to_all) group.told_at = now;
  bool all_told = true;
  for (const WaitingGroup::Member& member : group.members) {
    WaitingPod& pod = *member.pod;
    if (pod.last_refusal == group.told) continue;
    if (!to_all && !pod.last_refusal.empty()) {
      all_told = false;
      continue;
    }
    pod.last_refusal = group.told;
    decided_.add(decision::Unschedulable{.pod = ref_of(pod.pod),
                                         .scheduler_name = pod.pod.spec.scheduler_name,
                                         .generation = pod.pod.metadata.generation,
                                         .message = told.message,
                                         .details = told.details,
                                         .plugins = told.plugins,
                                         .attempts = ++pod.attempts,
                                         .reason = told.reason});
  }
  return all_told ? now + world_.options.max_unschedulable_wait : group.told_at + kBetweenMessages;
}

}  // namespace sched
