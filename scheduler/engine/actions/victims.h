// Which pods would have to leave which node, so that a pod finds room there: those of lower
// priority, and those on GPUs that other quotas have borrowed.
//
// The choice on a node, and between nodes, is kube-scheduler's (below); ties are broken by the
// names of nodes, never at random, and every node is tried, unless that would take long: some
// hundredths of a second. Beyond kube-scheduler:
//
// * Pods that are being deleted, and those that other pods wait for, count as gone, unless they
//   leave too late (plans.h). A node where no other pod has to leave comes first, then the node
//   that the pod is nominated for: so what was begun is completed, also by the next process.
// * Only pods of this scheduler are victims. Unless the profile says otherwise, no pods without a
//   controller, and none that a PodDisruptionBudget protects; none while budgets cannot be read.
// * No quota loses what it is guaranteed. Of other quotas, pods leave only while these use more
//   than their guarantees. A pod that would borrow evicts pods of its own quota alone.
// * Where the profile says so, a pod within its guarantee takes back what others of its cohort have
//   borrowed, whichever quota lends it: they leave whatever their priority, and before pods of its
//   own quota.
// * A pod of which only some GPUs are borrowed is evicted only if no other choice makes room.
// * Of equal priority, pods that have started together with others stay longest: without them
//   those others could only wait.
//
// Sources: kube-scheduler 1.36 default_preemption.go SelectVictimsOnNode, preemption.go
// pickOneNodeForPreemption.
#pragma once

#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/line/pod_groups.h"
#include "scheduler/engine/plans/plans.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/engine/world/world_trial.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sched {

// Whose pods leave; the first is the best.
enum class Whose : std::uint8_t {
  kOthers,    // none of the pod's own quota
  kAny,       // also of its own quota
  kOwnQuota,  // of its own quota alone: the pod would borrow GPUs there
};

struct Victims {
  NodeSlot node = kNoSlot;
  std::vector<const Occupant*> evicted;  // the most important first
  std::vector<const Occupant*> leaving;  // on the way out already
  std::size_t violations = 0;            // evicted pods whose PodDisruptionBudget is violated
  Whose whose = Whose::kAny;
  bool within_loans = true;  // whether all GPUs of other quotas' pods that go are borrowed
  // Groups (pod_groups.h) that lose pods of the highest priority among those that go.
  std::size_t gangs = 0;
};

class VictimSearch {
 public:
  // All outlive it.
  VictimSearch(const World& world, Finder& finder, const Holds& holds, const Plans& plans,
               const PodGroups& groups)
      : world_(world), finder_(finder), holds_(holds), plans_(plans), groups_(groups) {}

  struct Found {
    std::optional<Victims> best;
    // If there is none: how many nodes do not help, by reason.
    ReasonCounts reasons;
    // The name of the first node behind `from` that was not looked at; empty: there is none.
    std::string ended_at;
    // About how many nodes could have been looked at in the same time.
    std::uint64_t cost = 0;
    // Until when it holds, if nothing changes. Then pods on lent GPUs have run long enough, pods
    // that were to give quota back are late, or pods that are being deleted are near their end.
    Time until = Time::max();

    void holds_until(Time end) { until = std::min(until, end); }
  };
  // For a pod that no node takes, of a profile with preemption. `from`: the name of the first node
  // to look at; empty: all. O(nodes + their pods · plugins), and no more than kMostCost.
  [[nodiscard]] Found search(const WaitingPod& pod, const std::string& from, Time now) {
    return search(pod, from, now, false);
  }
  // The same on that node alone, which exists.
  [[nodiscard]] Found search_on(const WaitingPod& pod, const std::string& node, Time now) {
    return search(pod, node, now, true);
  }

 private:
  class OnNode;
  [[nodiscard]] Found search(const WaitingPod& pod, const std::string& from, Time now,
                             bool only_first);

  const World& world_;
  Finder& finder_;
  const Holds& holds_;
  const Plans& plans_;
  const PodGroups& groups_;
};

}  // namespace sched
