#include "scheduler/engine/plans/room_elsewhere.h"

#include "scheduler/engine/world/world_trial.h"

#include <chrono>
#include <utility>

namespace sched {
namespace {

constexpr std::chrono::seconds kBetweenRounds{1};

}  // namespace

bool RoomElsewhere::may_begin(Time now) const {
  return round_.empty() && some_have_room() && now >= next_round_;
}

void RoomElsewhere::begin(const std::vector<PlanId>& plans, Time now) {
  openings_seen_ = world_.nodes.openings();
  next_round_ = now + kBetweenRounds;
  round_.assign(plans.begin(), plans.end());
}

std::optional<RoomElsewhere::PlanId> RoomElsewhere::next(
    const std::function<const PodRecord*(PlanId)>& pod_of, Time now) {
  if (round_.empty() || has_turn(moving_)) return std::nullopt;
  while (!round_.empty() && looks_.any_left(now)) {
    const PlanId plan = round_.front();
    round_.pop_front();
    const PodRecord* pod = pod_of(plan);
    if (pod == nullptr) continue;
    const std::uint64_t searched = finder_.searched();
    const bool moves = has_room(*pod);
    looks_.spend(kCostOfLook + (finder_.searched() - searched));
    if (!moves) continue;
    moving_ = pod->waiting()->pod.metadata.uid;
    return plan;
  }
  return std::nullopt;
}

std::optional<Time> RoomElsewhere::due() const {
  if (!round_.empty()) return looks_.next();
  return some_have_room() ? std::optional(next_round_) : std::nullopt;
}

bool RoomElsewhere::has_turn(const std::string& uid) const {
  const PodRecord* pod = world_.pods.find(uid);
  return pod != nullptr && pod->waiting() != nullptr &&
         pod->waiting()->place == QueuePlace::kActive;
}

bool RoomElsewhere::has_room(const PodRecord& record) {
  const WaitingPod& pod = *record.waiting();
  if (!pod.pod.spec.scheduling_gates.empty()) return false;
  if (objection_to(pod.pod, pod.constraints)) return false;
  WorldTrial trial(world_);
  trial.take_away(record);
  Scope scope;
  if (record.charged() != nullptr && record.charged()->quota()) {
    const quota::QuotaId quota = *record.charged()->quota();
    if (world_.ledger.quotas().is_strict(quota)) return false;
    auto within =
        world_.ledger.answers().admit(quota, pod.demand, quota::kNoHold, &trial.quota).within;
    if (within.empty()) return false;
    scope = search_.scope_of(std::move(within));
  }
  const Ruling ruling = finder_.ruling_without(pod, trial.nodes);
  const ScoreCache& answers = finder_.refresh(pod, ruling, scope);
  return answers.best({.scope = scope, .ruling = &ruling}).node != kNoSlot;
}

}  // namespace sched
