// How fast pods with rules across nodes are decided, compared with plain ones: the pods of
// scheduler_perf's workloads TopologySpreading, SchedulingPodAffinity, SchedulingPodAntiAffinity
// and SchedulingCSIPVs, of those with preferences instead, and pods with volumes that are
// provisioned for their node.
//
// There is one plain pod for every five nodes; then pods without GPU come, all with one rule, and
// stay. Each is decided on, and the engine gets the success of its bind, and what the watch then
// shows. If a pod has a volume, its objects are there before and are not measured, as
// scheduler_perf does it. A provisioner answers at once, and what the engine does then is measured.
// Source: kubernetes test/integration/scheduler_perf.
#pragma once

#include "scheduler/engine/engine.h"

#include <array>
#include <cstddef>

namespace bench::decide {

struct Rule {
  const char* name;
  const char* what;
};
inline constexpr std::array<Rule, 10> kRules{{
    {"none", "plain pods"},
    {"spread", "spread over zones, a skew of 5 at most"},
    {"affinity", "in one zone with pods alike"},
    {"host-spread", "spread over nodes, a skew of 1 at most"},
    {"anti-affinity", "on a node without pods alike"},
    {"rather-spread", "rather spread over zones"},
    {"rather-near", "rather on a node with pods alike"},
    {"rather-apart", "rather on a node without them"},
    {"volume", "a bound CSI volume each, 39 to a node at most"},
    {"new-volume", "a volume each that is provisioned for its node"},
}};

struct RuledFigures {
  std::size_t bound = 0;
  std::size_t refused = 0;
  double cpu_seconds = 0;  // of everything that the engine did for the pods that came
};

// `engine` is fresh, with a profile named kSchedulerName. `rule`: index in kRules.
[[nodiscard]] RuledFigures run_ruled(sched::Engine& engine, std::size_t rule, std::size_t nodes,
                                     std::size_t pods);

}  // namespace bench::decide
