#include "scheduler/engine/plans/plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <utility>
#include <variant>

namespace sched {
namespace {

// How long a plan waits for pods to leave a node. If their own deadlines are later, it waits until
// kBeyondDeadline after these, but at most Departures::kMostPatience.
constexpr std::chrono::minutes kPatience{10};
constexpr std::chrono::minutes kBeyondDeadline{1};
constexpr const char* kTooFew = "fewer pods of its group are left than start together";

decision::NotPrepared not_prepared(decision::Bind bind, std::string why) {
  return {.pod = std::move(bind.pod),
          .scheduler_name = std::move(bind.scheduler_name),
          .generation = bind.generation,
          .node = std::move(bind.node),
          .message = std::move(why)};
}

}  // namespace

std::optional<Preparation> Plans::preparation_for(const WaitingPod& pod, NodeSlot node) const {
  std::optional<Preparation> all;
  for (const ClusterConstraint* constraint : pod.constraints) {
    auto wanted = constraint->preparation_for(pod.pod, world_.nodes.facts(node));
    if (!wanted) continue;
    if (!all) {
      all = std::move(wanted);
      continue;
    }
    all->patience = std::max(all->patience, wanted->patience);
    std::move(wanted->writes.begin(), wanted->writes.end(), std::back_inserter(all->writes));
    std::move(wanted->awaits.begin(), wanted->awaits.end(), std::back_inserter(all->awaits));
  }
  // Its bind waits for the other pods that start with it.
  if (!all && groups_.starting(pod.pod.metadata.uid) != nullptr) all.emplace();
  return all;
}

decision::Prepare Plans::begin(decision::Bind bind, Preparation wanted, Time now) {
  Plan plan;
  plan.bind = std::move(bind);
  return begin(add(std::move(plan), now + wanted.patience), std::move(wanted), now);
}

decision::Prepare Plans::begin(Entry entry, Preparation wanted, Time now) {
  Plan& plan = entry->second;
  ends_at(entry, now + wanted.patience);
  if (GroupStart* start = groups_.starting(plan.bind.pod.uid)) start->follow(plan.bind.pod.uid);
  for (const ObjectWrite& write : wanted.writes) world_.tell_constraints(WriteAssumed{write});
  plan.writes = std::move(wanted.writes);
  plan.awaits = std::move(wanted.awaits);
  const Placement& placed = *world_.pods.find(plan.bind.pod.uid)->placement();
  const Resources& offers = world_.nodes.facts(placed.node()).allocatable;
  plan.offered.clear();
  for (const ResourceAmount& asked : placed.claim().requests) {
    plan.offered.push_back({asked.resource, offers.get(asked.resource)});
  }
  for (const ObjectKey& object : awaited_by(plan)) awaiting_[object].insert(entry->first);
  return {.plan = entry->first,
          .pod = plan.bind.pod,
          .scheduler_name = plan.bind.scheduler_name,
          .generation = plan.bind.generation,
          .node = plan.bind.node,
          .writes = plan.writes};
}

void Plans::start_together(std::vector<Decision>& parts, std::size_t min_count, Time now) {
  const auto first = std::find_if(parts.begin(), parts.end(), [](const Decision& part) {
    return std::holds_alternative<decision::Prepare>(part);
  });
  if (first == parts.end()) return;
  const std::string uid = std::get<decision::Prepare>(*first).pod.uid;
  groups_.begin_start(uid, min_count);
  for (Decision& part : parts) {
    if (auto* bind = std::get_if<decision::Bind>(&part)) part = begin(std::move(*bind), {}, now);
    groups_.starting(uid)->set_ready(std::get<decision::Prepare>(part).pod.uid, false);
  }
}

Plans::Entry Plans::add(Plan plan, Time end) {
  const Id id = ++last_;
  of_pod_.emplace(plan.bind.pod.uid, id);
  plan.end = end;
  ends_.emplace(end, id);
  return plans_.emplace(id, std::move(plan)).first;
}

std::uint64_t Plans::wait_for_room(decision::Bind bind, Leaving leaving, Time now) {
  Plan plan;
  plan.bind = std::move(bind);
  plan.makes_room = true;
  plan.leaving = std::move(leaving.others);
  plan.leaving.insert(leaving.evicted.begin(), leaving.evicted.end());
  plan.evicted = std::move(leaving.evicted);
  plan.latest = now + Departures::kMostPatience;
  const Entry entry = add(std::move(plan), now + kPatience);
  const auto& [id, added] = *entry;
  on_node_.emplace(world_.nodes.find(added.bind.node), id);
  behind_.add(id, added.bind.pod.uid);
  for (const std::string& uid : added.leaving) {
    departures_.wait_for(uid, id, added.evicted.contains(uid));
    if (const auto deadline = departures_.deadline_of(uid)) wait_until(entry, *deadline);
  }
  return id;
}

std::vector<std::string> Plans::evicted_for(const std::string& uid) const {
  std::vector<std::string> victims;
  const auto found = of_pod_.find(uid);
  if (found == of_pod_.end()) return victims;
  const Plan& plan = plans_.at(found->second);
  if (plan.written) return victims;
  for (const std::string& victim : plan.evicted) {
    if (!departures_.is_terminating(victim)) victims.push_back(victim);
  }
  return victims;
}

std::optional<decision::Prepare> Plans::prepare(Entry entry, Time now) {
  Plan& plan = entry->second;
  stop_waiting_for_room(entry, false);
  const WaitingPod& pod = *world_.pods.find(plan.bind.pod.uid)->waiting();
  auto wanted = preparation_for(pod, world_.nodes.find(plan.bind.node));
  if (!wanted) return std::nullopt;
  plan.made_room = true;
  plan.written = false;
  return begin(renumber(entry), *std::move(wanted), now);
}

Plans::Entry Plans::renumber(Entry entry) {
  ends_.erase({entry->second.end, entry->first});
  auto plan = plans_.extract(entry);
  plan.key() = ++last_;
  of_pod_[plan.mapped().bind.pod.uid] = last_;
  ends_.emplace(plan.mapped().end, last_);
  return plans_.insert(std::move(plan)).position;
}

void Plans::stop_waiting_for_room(Entry entry, bool timed_out) {
  auto& [id, plan] = *entry;
  for (const std::string& uid : plan.leaving) {
    const bool spares = plan.evicted.contains(uid) && !plan.written;
    for (const Id other : departures_.give_up(uid, id, timed_out, spares)) {
      fail(plans_.at(other).bind.pod.uid, "a pod that was to leave the node stays");
    }
  }
  const auto [first, end] = on_node_.equal_range(world_.nodes.find(plan.bind.node));
  const auto here =
      std::find_if(first, end, [id = id](const auto& each) { return each.second == id; });
  if (here != end) on_node_.erase(here);
  behind_.remove(id);
  plan.leaving.clear();
  plan.evicted.clear();
  plan.makes_room = false;
}

void Plans::ends_at(Entry entry, Time end) {
  auto& [id, plan] = *entry;
  ends_.erase({plan.end, id});
  plan.end = end;
  ends_.emplace(end, id);
}

void Plans::wait_until(Entry entry, Time deadline) {
  const Plan& plan = entry->second;
  ends_at(entry, std::min(std::max(plan.end, deadline + kBeyondDeadline), plan.latest));
}

void Plans::look_again(const ObjectKey& changed) {
  const auto found = awaiting_.find(changed);
  if (found != awaiting_.end()) due_.insert(found->second.begin(), found->second.end());
}

std::vector<ObjectKey> Plans::awaited_by(const Plan& plan) {
  std::vector<ObjectKey> all = plan.awaits;
  all.push_back(object_key<k8s::Node>(plan.bind.node));
  return all;
}

void Plans::room_changed(NodeSlot node) {
  for (auto [each, end] = on_node_.equal_range(node); each != end; ++each)
    due_.insert(each->second);
}

void Plans::quota_changed() {
  const std::uint64_t version = world_.ledger.version();
  if (std::exchange(quotas_seen_, version) == version) return;
  for (const auto& [node, plan] : on_node_) due_.insert(plan);
}

void Plans::leaves_by(const std::string& uid, Time deadline) {
  for (const Id id : departures_.leaves_by(uid, deadline)) wait_until(plans_.find(id), deadline);
}

void Plans::has_left(const std::string& uid, NodeSlot node) {
  if (on_node_.empty() && departures_.none()) return;
  for (const Id id : departures_.has_left(uid)) {
    Plan& plan = plans_.at(id);
    plan.leaving.erase(uid);
    plan.evicted.erase(uid);
  }
  room_changed(node);
}

void Plans::fail(const std::string& uid, std::string why) {
  const auto found = of_pod_.find(uid);
  if (found == of_pod_.end()) return;
  Plan& plan = plans_.find(found->second)->second;
  plan.failure = std::move(why);
  plan.by_node = false;
  due_.insert(found->second);
}

void Plans::on(const event::Prepared& event) {
  const auto found = plans_.find(event.plan);
  if (found == plans_.end()) return;  // it had ended before
  Plan& plan = found->second;
  plan.written = event.failure.empty();
  if (plan.failure.empty()) plan.failure = event.failure;  // it may have failed before
  due_.insert(event.plan);
}

void Plans::bind_failed(PodRecord& record, const event::BindFailed& event, Time now) {
  using Because = event::BindFailed::Because;
  if (event.because == Because::kRefused) {
    record.waiting()->refused_binds.add(event.node, event.message, now);
  }
  assumed_.back_off(release(record), event.because != Because::kNotSent, now);
}

void Plans::take_back(const std::string& uid) {
  drop(uid);
  static_cast<void>(release(*world_.pods.find(uid)));
}

void Plans::drop(const std::string& uid) {
  if (of_pod_.empty()) return;
  const auto found = of_pod_.find(uid);
  if (found == of_pod_.end()) return;
  static_cast<void>(end(plans_.find(found->second)));
  if (GroupStart* start = groups_.starting(uid)) {
    start->gone(uid);
    start_without(uid);
  }
}

void Plans::look_elsewhere(Time now) {
  if (on_node_.empty()) return elsewhere_.stop();
  if (elsewhere_.may_begin(now)) {
    std::vector<Id> all;
    for (const auto& [id, plan] : plans_) {
      if (plan.makes_room) all.push_back(id);
    }
    elsewhere_.begin(all, now);
  }
  const auto pod_of = [this](Id id) -> const PodRecord* {
    const auto plan = plans_.find(id);
    const bool waits = plan != plans_.end() && plan->second.makes_room;
    return waits ? world_.pods.find(plan->second.bind.pod.uid) : nullptr;
  };
  if (const auto id = elsewhere_.next(pod_of, now)) {
    Plan& plan = plans_.at(*id);
    plan.moves = true;
    plan.failure = "there is room elsewhere by now";
    due_.insert(*id);
  }
}

void Plans::give_up_start(const PodRef& of, const std::string& why, const std::string& why_others,
                          Time now) {
  const GroupStart& start = *groups_.starting(of.uid);
  std::vector<std::string> pods = start.pods();
  pods.insert(pods.end(), start.followers().begin(), start.followers().end());
  std::vector<Id> plans;
  int failed = 0;  // binds in a row: all have the same back-off, and come together again
  for (const std::string& uid : pods) {
    plans.push_back(of_pod_.at(uid));
    failed = std::max(failed, world_.pods.find(uid)->waiting()->failed_binds);
  }
  groups_.end_start(of.uid);
  std::sort(plans.begin(), plans.end(), std::greater<>());
  for (const Id id : plans) {
    decision::Bind bind = end(plans_.find(id)).bind;
    WaitingPod& pod = release(*world_.pods.find(bind.pod.uid));
    pod.failed_binds = failed;
    assumed_.back_off(pod, true, now);
    const bool is_other = bind.pod.uid != of.uid;
    decided_.add(not_prepared(std::move(bind), is_other ? why_others : why));
  }
}

void Plans::start_if_ready(const std::string& uid, Time now) {
  GroupStart& start = *groups_.starting(uid);
  std::vector<Id> plans;
  for (const std::string& each : start.pods()) {
    const Entry plan = plans_.find(of_pod_.at(each));
    // What made this one ready may have changed another.
    if (readiness_of(plan->first, plan->second, now).state != Readiness::State::kReady) {
      start.set_ready(each, false);
      return static_cast<void>(due_.insert(plan->first));
    }
    plans.push_back(plan->first);
  }
  for (const std::string& each : start.followers()) due_.insert(of_pod_.at(each));
  groups_.end_start(uid);
  std::sort(plans.begin(), plans.end());
  for (const Id id : plans) decided_.add(end(plans_.find(id)).bind);
}

bool Plans::look_at_start(Entry entry, const Readiness& readiness, Time now) {
  using State = Readiness::State;
  const PodRef pod = entry->second.bind.pod;
  GroupStart& start = *groups_.starting(pod.uid);
  if (readiness.state == State::kFailed) {
    const bool follows = start.follows(pod.uid);
    groups_.failed(pod.uid);
    if (follows || groups_.has_enough(pod.uid)) {
      start_without(pod.uid);
      return false;
    }
    start.set_ready(pod.uid, false);
    if (readiness.avoids_node) {
      world_.pods.find(pod.uid)->waiting()->refused_binds.add(entry->second.bind.node,
                                                              readiness.why, now);
    }
    give_up_start(pod, readiness.why,
                  fmt::format("pod {} of its group: {}", pod.name, readiness.why), now);
    return true;
  }
  const bool is_ready = readiness.state == State::kReady;
  // So that next_end() is not past.
  if (is_ready && now >= entry->second.end) ends_at(entry, now + kPatience);
  if (!groups_.has_enough(pod.uid)) {
    give_up_start(pod, kTooFew, kTooFew, now);
  } else if (!start.follows(pod.uid)) {
    start.set_ready(pod.uid, is_ready);
    if (start.all_ready()) start_if_ready(pod.uid, now);
  }
  return true;
}

void Plans::start_without(const std::string& uid) {
  GroupStart& start = *groups_.starting(uid);
  if (start.is_empty()) {
    // No pod has to be ready any more, and the followers have all failed before. has_enough() will
    // return false for them, so the start is given up.
    const std::set<std::string> followers = start.followers();
    if (followers.empty()) return groups_.end_start(uid);
    for (const std::string& each : followers) start.set_ready(each, false);
  }
  // Too few pods may be left, or the others waited for this pod alone.
  for (const std::string& each : start.pods()) due_.insert(of_pod_.at(each));
}

std::optional<Decision> Plans::next(Time now) {
  for (auto end = ends_.begin(); end != ends_.end() && end->first <= now; ++end) {
    due_.insert(end->second);
  }
  while (true) {
    if (auto decided = decided_.next()) return decided;
    if (due_.empty()) look_elsewhere(now);
    if (due_.empty()) return std::nullopt;
    const Entry plan = plans_.find(*due_.begin());
    due_.erase(due_.begin());
    if (plan == plans_.end()) continue;
    Readiness readiness = readiness_of(plan->first, plan->second, now);
    if (groups_.starting(plan->second.bind.pod.uid) != nullptr &&
        look_at_start(plan, readiness, now)) {
      continue;
    }
    if (readiness.state == Readiness::State::kWaits) continue;
    const bool is_ready = readiness.state == Readiness::State::kReady;
    const bool makes_room = plan->second.makes_room;
    const bool costs_others = makes_room || plan->second.made_room;
    const bool moves = plan->second.moves;
    const bool by_node = plan->second.by_node && readiness.by_node;
    if (makes_room && is_ready) {
      if (auto part = prepare(plan, now)) return *std::move(part);
    } else if (makes_room) {
      stop_waiting_for_room(plan, now >= plan->second.end);
    }
    decision::Bind bind = end(plan).bind;
    if (is_ready) return bind;
    PodRecord& record = *world_.pods.find(bind.pod.uid);
    if (moves) {
      record.waiting()->gave_up_room = true;
      queue_.activate(release(record), QueueEvent::kObjectChange);
    } else {
      // The next try would choose the node again, or have others leave it again.
      if (readiness.avoids_node || (costs_others && by_node)) {
        record.waiting()->refused_binds.add(bind.node, readiness.why, now);
      }
      assumed_.back_off(release(record), true, now);
    }
    return not_prepared(std::move(bind), std::move(readiness.why));
  }
}

std::optional<Time> Plans::next_end() const {
  if (ends_.empty()) return std::nullopt;
  const Time end = ends_.begin()->first;
  const auto round = on_node_.empty() ? std::nullopt : elsewhere_.due();
  return round ? std::min(end, *round) : end;
}

Plans::Plan Plans::end(Entry plan) {
  if (plan->second.makes_room) stop_waiting_for_room(plan, false);
  Plan over = std::move(plan->second);
  of_pod_.erase(over.bind.pod.uid);
  ends_.erase({over.end, plan->first});
  for (const ObjectKey& object : awaited_by(over)) {
    const auto awaiting = awaiting_.find(object);
    if (awaiting == awaiting_.end()) continue;
    awaiting->second.erase(plan->first);
    if (awaiting->second.empty()) awaiting_.erase(awaiting);
  }
  plans_.erase(plan);
  // In reverse order: a later write may depend on an earlier one.
  for (auto write = over.writes.rbegin(); write != over.writes.rend(); ++write) {
    world_.tell_constraints(WriteOver{*write});
  }
  // Other plans may have counted on these writes, which need not have been done.
  if (!over.writes.empty()) {
    for (const ObjectKey& object : over.awaits) look_again(object);
  }
  return over;
}

WaitingPod& Plans::release(PodRecord& record) {
  const NodeSlot node = record.placement()->node();
  WaitingPod& waiting = assumed_.release(record);
  has_left(waiting.pod.metadata.uid, node);
  return waiting;
}

}  // namespace sched
