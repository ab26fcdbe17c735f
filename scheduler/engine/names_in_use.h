// Forgetting the names of resources that are not in use any more.
//
// Pods name resources, and whoever may create pods may make up names without end. A name that a
// node offers stays as long as it does; one that only pods know goes with the last of them.
//
// From one event to the next these alone keep the id of a name: the facts of nodes, what pods and
// reservations take there, and the shapes of pods that wait. Shapes that are kept for later (by
// templates, by caches) keep none: they are forgotten, or put aside so that no other pod gets them.
// A pod that is assumed holds what it takes; its shape is looked up again if its bind fails.
#pragma once

#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

namespace sched {

// Between two events. O(1), but for each time that as many names came as there are names, nodes and
// pods to look at: so each name costs a few steps, and there are never more than twice those in
// use, or kFewNames or one for each node and pod besides.
inline constexpr std::size_t kFewNames = 4'096;
void forget_unused_names(World& world, const Queues& queue);

}  // namespace sched
