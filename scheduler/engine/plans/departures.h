// The pods that leave their nodes, and the plans that wait for them.
//
// A pod leaves because it is evicted for a plan, or because it was deleted. A plan that makes room
// waits for those that were leaving its node when it began. A pod whose deletion hangs is stuck: no
// later plan waits for it.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/engine/world/world.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sched {

class Departures {
 public:
  using PlanId = std::uint64_t;

  // No plan waits longer for pods to leave, whatever time they have.
  static constexpr std::chrono::minutes kMostPatience{60};

  // `world` outlives it.
  explicit Departures(World& world) : world_(world) {}

  // The plan waits until the pod, which has a node, has left. `evicted`: it is evicted for this
  // plan.
  void wait_for(const std::string& uid, PlanId plan, bool evicted);
  // The plan does not wait for the pod any more. `timed_out`: it has waited too long, so the pod is
  // stuck. `spares`: the pod was to be evicted for this plan, and that has not been done. Then it
  // stays, unless it is evicted for another plan or is being deleted. Returns the plans that wait
  // for a pod that stays.
  [[nodiscard]] std::vector<PlanId> give_up(const std::string& uid, PlanId plan, bool timed_out,
                                            bool spares);

  // The pod, which has a node, is being deleted, and has until `deadline` to leave. Returns the
  // plans that wait for it.
  [[nodiscard]] std::vector<PlanId> leaves_by(const std::string& uid, Time deadline);
  // The pod has left its node. Returns the plans that waited for it.
  [[nodiscard]] std::vector<PlanId> has_left(const std::string& uid);

  // When the pod has to have left; nullopt: it is not known to be deleted.
  [[nodiscard]] std::optional<Time> deadline_of(const std::string& uid) const;
  // Calls visit(uid) for each pod for which a plan waits, or which is being deleted, in no order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [uid, plans] : awaited_) visit(uid);
    for (const auto& [uid, deadline] : deadlines_) {
      if (!awaited_.contains(uid)) visit(uid);
    }
  }
  // Whether a plan waits for the pod.
  [[nodiscard]] bool is_awaited(const std::string& uid) const { return awaited_.contains(uid); }
  // Until when the pod, which is being deleted, leaves too late to be waited for; nullopt: it does
  // not. Time::max(): plans have waited for it too long.
  [[nodiscard]] std::optional<Time> stuck_until(const std::string& uid, Time now) const;
  // Whether the pod, which has a node, has been deleted, and is still there.
  [[nodiscard]] bool is_terminating(const std::string& uid) const;
  // Whether nothing is known of any pod.
  [[nodiscard]] bool none() const {
    return awaited_.empty() && stuck_.empty() && deadlines_.empty() && spared_.empty();
  }

 private:
  struct Waiting {
    PlanId plan = 0;
    bool evicted = false;  // the pod is evicted for that plan
  };
  // Those that wait for the pod.
  [[nodiscard]] std::vector<PlanId> plans_of(const std::string& uid) const;

  World& world_;
  std::unordered_map<std::string, std::vector<Waiting>> awaited_;  // by uid
  std::unordered_set<std::string> stuck_;
  // Pods that were to be evicted for plans that have ended. Their eviction may be under way all the
  // same.
  std::unordered_set<std::string> spared_;
  // Of pods that are being deleted, where profiles preempt: until when, by uid.
  std::unordered_map<std::string, Time> deadlines_;
};

}  // namespace sched
