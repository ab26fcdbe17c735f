// Looks for room on other nodes for pods whose plans still wait until victims have left the chosen
// node.
//
// Works in rounds. When some node has got room, each plan that makes room is looked at once. The
// next round begins a second later at the earliest. A pod for which there is room has its turn
// before the next plan is looked at. A look at a pod of which nothing is stored may take long,
// because there may be very many rules across nodes. So all looks share an allowance. A round that
// has used it up goes on when there is some again.
#pragma once

#include "scheduler/base/allowance.h"
#include "scheduler/base/types.h"
#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/world/world.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sched {

class RoomElsewhere {
 public:
  using PlanId = std::uint64_t;
  // All outlive it.
  RoomElsewhere(World& world, Finder& finder, QuotaSearch& search)
      : world_(world), finder_(finder), search_(search) {}

  // No plan makes room: there is nothing to look at.
  void stop() { round_.clear(); }
  // Whether a round is over, and the next may begin.
  [[nodiscard]] bool may_begin(Time now) const;
  // These plans make room.
  void begin(const std::vector<PlanId>& plans, Time now);
  // The next plan whose pod a node takes now; nullopt: there is none, or the last one's pod has not
  // had its turn, or nothing is left of the allowance. `pod_of`: the pod of a plan; null if the
  // plan makes no room any more.
  [[nodiscard]] std::optional<PlanId> next(const std::function<const PodRecord*(PlanId)>& pod_of,
                                           Time now);
  // When a round may begin or go on although nothing happens; nullopt: no node has got room.
  [[nodiscard]] std::optional<Time> due() const;

 private:
  // In nodes that are looked at: about a tenth of a processor.
  static constexpr std::int64_t kCostPerSecond = 500'000;
  // In the same unit, of a look at a pod of which all is stored.
  static constexpr std::size_t kCostOfLook = 100;

  // Whether a node takes the pod, which is assumed on another, now: within the guarantee if a quota
  // counts it. Not for Strict quotas: another pod might have its turn first.
  [[nodiscard]] bool has_room(const PodRecord& record);
  [[nodiscard]] bool has_turn(const std::string& uid) const;
  [[nodiscard]] bool some_have_room() const { return openings_seen_ != world_.nodes.openings(); }

  World& world_;
  Finder& finder_;
  QuotaSearch& search_;
  std::deque<PlanId> round_;  // plans that this round has not looked at
  std::string moving_;        // the last pod for which there was room, by uid
  Time next_round_{};
  std::uint64_t openings_seen_ = 0;
  Allowance looks_{kCostPerSecond};
};

}  // namespace sched
