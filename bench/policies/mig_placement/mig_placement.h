// MigPlacement: where a MIG instance goes, and so on which node.
//
// Two clusters with equally many free slices can differ in what still fits: a 3g needs four
// consecutive slices that begin at 0 or 4. This score tries the instance at every legal start of
// every GPU of the node, rates each place by one rule (`policy`), and takes the best one; the
// node's score is that rating. A pod that asks for several instances is left to the engine's own
// rule (bench/devices/place.h), as is a pod on nodes with GPUs that are only counted: there the
// instances exist already and kubelet assigns them.
//
// Arguments:
//   policy: expected-fill   the rule (rules.h lists them); this one is the default
//
// Ratings are finer than a hundred steps, so this score outweighs others of equal weight.
#pragma once

#include "scheduler/framework/registry.h"

namespace bench {

[[nodiscard]] sched::PluginInstance make_mig_placement(k8s::yaml::ObjectReader& args);

}  // namespace bench
