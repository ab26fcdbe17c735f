// What another policy would have done with the events of a recording.
//
// What follows from the recorded decisions is left out or turned into what follows from the new
// ones; all else is told to the engine as it was, at its time:
//
//  * A pod that is ours to decide (recorded_pods.h) is told without the node it got. Once the new
//    policy has placed it, further states of it are told with the new node.
//  * BindSucceeded and BindFailed are dropped: each new bind succeeds at once.
//  * Pods of other schedulers, and ours that were bound before, are told as they were.
//  * A pod leaves when it left in the recording, wherever it is now. One that never got a node
//    there, and was given up, leaves then too.
//  * The engine decides when it decided in the recording, and where it had nothing more to say
//    there, until it has nothing more to say here. So the recorded policy gives the recorded
//    decisions, unless binds had failed.
#pragma once

#include "bench/replay/policies/policies.h"
#include "bench/replay/recording/as_recorded.h"
#include "bench/replay/recording/recorded_pods.h"
#include "bench/replay/recording/recording.h"
#include "bench/replay/run/run.h"
#include "k8s-client/error.h"

namespace bench::replay {

// Besides what every result has: "moved_pods" (placed on another node than recorded),
// "gained_pods" (placed, and were not), "lost_pods" (not placed, and were).
[[nodiscard]] k8s::Result<Result> with_policy(const Recording& recording, const RecordedPods& pods,
                                              const Placements& recorded, const Policy& policy,
                                              const sched::Registry& registry,
                                              const RunOptions& options);

}  // namespace bench::replay
