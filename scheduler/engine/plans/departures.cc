#include "scheduler/engine/plans/departures.h"

#include <algorithm>

namespace sched {
namespace {

DisruptionBudgets::Pod for_budgets(const PodRecord& record) {
  return {*record.placement()->occupant().pod_class, *record.name()};
}

}  // namespace

void Departures::wait_for(const std::string& uid, PlanId plan, bool evicted) {
  awaited_[uid].push_back({.plan = plan, .evicted = evicted});
}

std::vector<Departures::PlanId> Departures::give_up(const std::string& uid, PlanId plan,
                                                    bool timed_out, bool spares) {
  const auto counted = awaited_.find(uid);
  std::vector<Waiting>& others = counted->second;
  std::erase_if(others, [plan](const Waiting& each) { return each.plan == plan; });
  if (timed_out) stuck_.insert(uid);
  std::vector<PlanId> cannot;
  const bool goes =
      std::any_of(others.begin(), others.end(), [](const Waiting& each) { return each.evicted; });
  if (spares && !goes && !is_terminating(uid)) {
    world_.budgets.stays(for_budgets(*world_.pods.find(uid)));
    spared_.insert(uid);
    for (const Waiting& each : others) cannot.push_back(each.plan);
  }
  if (others.empty()) awaited_.erase(counted);
  return cannot;
}

std::vector<Departures::PlanId> Departures::leaves_by(const std::string& uid, Time deadline) {
  if (!world_.preempts()) return {};
  deadlines_[uid] = deadline;
  if (spared_.erase(uid) > 0) world_.budgets.evicted(for_budgets(*world_.pods.find(uid)));
  return plans_of(uid);
}

std::vector<Departures::PlanId> Departures::has_left(const std::string& uid) {
  stuck_.erase(uid);
  spared_.erase(uid);
  deadlines_.erase(uid);
  std::vector<PlanId> plans = plans_of(uid);
  awaited_.erase(uid);
  return plans;
}

std::vector<Departures::PlanId> Departures::plans_of(const std::string& uid) const {
  std::vector<PlanId> plans;
  const auto counted = awaited_.find(uid);
  if (counted == awaited_.end()) return plans;
  for (const Waiting& each : counted->second) plans.push_back(each.plan);
  return plans;
}

std::optional<Time> Departures::deadline_of(const std::string& uid) const {
  const auto deadline = deadlines_.find(uid);
  return deadline == deadlines_.end() ? std::nullopt : std::optional(deadline->second);
}

std::optional<Time> Departures::stuck_until(const std::string& uid, Time now) const {
  if (stuck_.contains(uid)) return Time::max();
  const auto deadline = deadline_of(uid);
  if (!deadline || *deadline <= now + kMostPatience) return std::nullopt;
  return *deadline - kMostPatience;
}

bool Departures::is_terminating(const std::string& uid) const {
  return world_.pods.find(uid)->placement()->occupant().terminating;
}

}  // namespace sched
