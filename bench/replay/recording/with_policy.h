// What another policy would have decided with the events of a recording.
//
// Consequences of the recorded decisions are left out or changed into consequences of the new ones;
// all other events go to the engine unchanged, at their time:
//
//  * A pod that is decided again (recorded_pods.h) is given without the node that it got. When the
//    new policy has placed it, its later states have the new node.
//  * BindSucceeded and BindFailed are dropped: each new bind succeeds at once.
//  * Pods of other schedulers, and pods that were bound before, are unchanged.
//  * A pod leaves when it left in the recording, wherever it is now. A pod that never got a node
//    there, and was given up, leaves then, too.
//  * What the recorded configuration says about the cluster and its tenants stays
//  (site_settings.h).
//  * The engine makes each decision when the recorded engine made one. When that had no more
//    decisions, this one goes on until it has none, too. So the recorded policy gives the recorded
//    decisions, unless binds had failed.
#pragma once

#include "bench/replay/policies/policies.h"
#include "bench/replay/recording/as_recorded.h"
#include "bench/replay/recording/recorded_pods.h"
#include "bench/replay/recording/recording.h"
#include "bench/replay/run/run.h"
#include "k8s-client/error.h"

namespace bench::replay {

// In addition to the figures of every result: "moved_pods" (placed on another node than recorded),
// "gained_pods" (placed now, not in the recording), "lost_pods" (not placed now, but in the
// recording).
[[nodiscard]] k8s::Result<Result> with_policy(const Recording& recording, const RecordedPods& pods,
                                              const Placements& recorded, const Policy& policy,
                                              const sched::Registry& registry,
                                              const RunOptions& options);

}  // namespace bench::replay
