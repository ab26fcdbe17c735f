// Decides on a group of pods that has the next turn: a node for each of as many as start together,
// or the reason why all of them wait.
#pragma once

#include "scheduler/engine/actions/group_search.h"
#include "scheduler/engine/actions/place.h"
#include "scheduler/engine/actions/retries.h"
#include "scheduler/engine/decision.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/line/pod_groups.h"
#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/plans/decided_together.h"
#include "scheduler/engine/plans/plans.h"
#include "scheduler/engine/report/quota_words.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sched {

// The parts of the engine that it uses; they outlive it.
struct PlaceGroupParts {
  World& world_;
  Finder& finder_;
  Queues& queue_;
  Holds& holds_;
  QuotaSearch& search_;
  PodGroups& groups_;
  Plans& plans_;
  Place& place_;
  const QuotaWords& words_;
};

class PlaceGroup : private PlaceGroupParts {
 public:
  explicit PlaceGroup(const PlaceGroupParts& parts)
      : PlaceGroupParts(parts),
        seats_(world_, finder_, search_, holds_),
        decided_(world_),
        retries_(groups_) {}

  // Decides on the group, and puts it elsewhere. What is decided comes from next().
  void attempt(WaitingGroup& group, Time now);
  // The annotations about its group cannot be read: the pod waits for a change of them.
  [[nodiscard]] Decision refuse(WaitingPod& pod, const std::string& problem, Time now);
  // Its group is full: the pod stays outside, and is tried again in a minute.
  [[nodiscard]] Decision keep_out(WaitingPod& pod, const PodGroup& group, Time now);
  // Gives a turn to a group that has been postponed, if it may be tried now.
  void wake(Time now);
  // When wake() will have something to do even if nothing happens; nullopt: never.
  [[nodiscard]] std::optional<Time> due() const { return retries_.due(); }
  // The next of the decisions that were made together; nullopt: there is none.
  [[nodiscard]] std::optional<Decision> next() { return decided_.next(); }

 private:
  // What all pods of a group are told.
  struct Told {
    std::string message;
    std::string details;
    std::vector<std::string> plugins;
    decision::Unschedulable::Reason reason = decision::Unschedulable::Reason::kUnschedulable;
  };
  // The pods of a group that a constraint refuses, and its first refusal.
  struct Refused {
    std::set<const WaitingPod*> pods;
    const WaitingPod* first = nullptr;
    std::optional<Objection> why;
    // What the refusal awaits. If not all pods are needed: what all refusals await, because the
    // group may start without some of the pods.
    std::set<ObjectKey> awaits;
  };

  void decide_on(WaitingGroup& group, bool is_retry, Time now);
  void wait_for_pods(WaitingGroup& group, Time now);
  [[nodiscard]] static Refused refused_of(const WaitingGroup& group);
  // Too few pods are left without those: the group waits for what may lift the refusal.
  void refuse(WaitingGroup& group, const Refused& refused, Time now);
  // Gives the pods their seats. False: one of them cannot have it beside the others, because of
  // something that a trial does not know; then nothing has changed.
  [[nodiscard]] bool start(WaitingGroup& group, const GroupSearch::Found& found, Time now);
  // The first pod of the group that its quota could never take, if too few are left without such
  // pods; null: there is none.
  [[nodiscard]] const WaitingPod* hopeless_pod_of(const WaitingGroup& group) const;
  // `some_refused`: pods that a constraint refuses were left out of the search.
  void park(WaitingGroup& group, const GroupSearch::Found& found, bool some_refused, Time now);
  // Where its quota stands on a class on which it would borrow, if others have their turn first.
  [[nodiscard]] std::optional<quota::Standing> others_borrow_first(const WaitingGroup& group,
                                                                   const GroupSearch::Found& found);
  // Sends its pods the message. Returns when the group is looked at again even if nothing happens.
  // If some pods got a message recently, returns when the changed numbers may be sent.
  [[nodiscard]] Time tell(WaitingGroup& group, const Told& told, Time now);
  [[nodiscard]] Decision refusal_of(WaitingPod& pod, const std::string& problem) const;

  GroupSearch seats_;
  DecidedTogether decided_;
  Retries retries_;
};

}  // namespace sched
