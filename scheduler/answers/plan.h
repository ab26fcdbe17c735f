// What would become of pods if the cluster were a little different: nodes more or fewer, other
// quotas, pods that are not there yet.
//
// The engine first goes on with the cluster as it is, but that nodes to be drained are cordoned.
// What starts then would have started anyway. Then the change is made, and the engine goes on
// again: what starts now does so because of the change.
#pragma once

#include "scheduler/base/event.h"
#include "scheduler/engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sched::answers {

struct Change {
  // Nodes, quotas and storage that come, or are other than they were.
  std::vector<Event> objects = {};
  // Pods that are created: without a node, each with a uid of its own.
  std::vector<k8s::Pod> pods = {};
  // Nodes that are drained, as they are, and the pods there.
  std::vector<k8s::Node> drained = {};
  std::vector<k8s::Pod> evicted = {};
};

struct PlanRow {
  enum class Origin : std::uint8_t {
    kWaits,    // it waits in the cluster
    kNew,      // it is created
    kEvicted,  // its node is drained, and its controller creates it anew
  };
  PodRef pod;
  Origin origin = Origin::kWaits;
  std::string node;  // where it starts; empty: it waits
  std::string why;   // it waits
  friend bool operator==(const PlanRow&, const PlanRow&) = default;
};

struct Plan {
  std::vector<PlanRow> starts;  // in the order of the decisions
  std::vector<PlanRow> waits;   // of the new and the evicted pods
  // Evicted pods that nothing here creates anew, or that wait for another scheduler then.
  std::vector<PodRef> ended;
  std::size_t start_anyway = 0;   // of those that wait, without the change
  std::size_t still_waiting = 0;  // of those that wait in the cluster, with the change

  // Whether every pod that is created, here or anew, has a node.
  [[nodiscard]] bool all_start() const { return waits.empty(); }
};

// `served`: the scheduler names of the engine's profiles. The engine has everything that was read.
[[nodiscard]] Plan plan(Engine& engine, Change change, const std::set<std::string>& served,
                        Time now);

// "Waits", "New", "Evicted".
[[nodiscard]] const char* to_string(PlanRow::Origin origin);

}  // namespace sched::answers
