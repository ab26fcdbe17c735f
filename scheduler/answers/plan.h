// What would become of pods if the cluster were changed a little: more or fewer nodes, other
// quotas, new pods.
//
// First the engine continues with the cluster as it is, except that nodes to be drained are
// cordoned. Then the change is made, and the engine continues. So pods that start without the
// change are placed first, as in the scheduler. For nodes to be drained, a second engine with the
// nodes as they are computes which pods would start without the change.
#pragma once

#include "scheduler/answers/queue.h"
#include "scheduler/base/event.h"
#include "scheduler/engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sched::answers {

struct Change {
  // Nodes, quotas and storage that are added or changed.
  std::vector<Event> objects = {};
  // Pods that are created: without a node, each with its own uid.
  std::vector<k8s::Pod> pods = {};
  // Pods that end because one of `pods` has their name.
  std::vector<PodRef> replaced = {};
  // Nodes that are drained, as they are now, and their pods; those of DaemonSets and static pods
  // stay.
  std::vector<k8s::Node> drained = {};
  std::vector<k8s::Pod> evicted = {};
};

struct PlanRow {
  enum class Origin : std::uint8_t {
    kWaits,    // it waits in the cluster
    kNew,      // it is created
    kEvicted,  // its node is drained, and its controller creates it again
  };
  PodRef pod;
  Origin origin = Origin::kWaits;
  std::string node;  // where it starts; empty: it waits
  // Why it waits: in one sentence, and all that the engine says.
  std::string headline;
  std::string why;
  friend bool operator==(const PlanRow&, const PlanRow&) = default;
};

struct Plan {
  std::vector<PlanRow> starts;    // not without the change; in the order of the decisions
  std::vector<PlanRow> waits;     // of the new and the evicted pods
  std::vector<PodRef> held_up;    // those that would start, but for the drain
  std::vector<PodRef> ended;      // evicted pods that nothing creates again
  std::vector<PodRef> elsewhere;  // evicted pods that are created again for another scheduler
  std::vector<PodRef> replaced;
  std::size_t start_anyway = 0;  // of those that wait: with the change and without it
  Queue still;                   // those that wait in the cluster, with the change

  [[nodiscard]] std::size_t still_waiting() const { return still.rows.size() + still.never.size(); }
  // How many of them wait for what: QueueRow::blocked_by, "turn" where that is empty, or "never".
  [[nodiscard]] std::map<std::string, std::size_t> causes() const;
  // The first of them that may start some day.
  [[nodiscard]] std::vector<QueueRow> first_still_waiting(std::size_t at_most) const;
  // Whether every pod that is created, for the first time or again, has a node, and no drain keeps
  // another from one.
  [[nodiscard]] bool all_start() const { return waits.empty() && held_up.empty(); }
};

// `served`: the scheduler names of the engine's profiles. The engine has all objects that were
// read, and so has `undrained`, which may be nullptr if no node is drained. Runs both.
[[nodiscard]] Plan plan(Engine& engine, Engine* undrained, Change change,
                        const std::set<std::string>& served, Time now);

// "Waits", "New", "Evicted".
[[nodiscard]] const char* to_string(PlanRow::Origin origin);

}  // namespace sched::answers
