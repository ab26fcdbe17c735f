// Forgets the names of resources that are no longer in use.
//
// Pods name resources, and a user who may create pods may make up any number of names. A name that
// a node offers stays as long as the node offers it; a name that only pods use goes with the last
// of them.
//
// From one event to the next only these keep the id of a name: the facts of nodes, what pods and
// reservations take there, and the shapes of waiting pods. Shapes that are stored for later (by
// templates, by caches) keep no id: they are forgotten, or put aside so that no other pod gets
// them. An assumed pod keeps the ids of what it takes; its shape is looked up again if its bind
// fails.
#pragma once

#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

namespace sched {

// Called between two events. O(1), unless as many new names have come as there are names, nodes and
// pods to look at. So each name costs a few steps, and the number of names is at most twice those
// in use, plus kFewNames or one for each node and pod.
inline constexpr std::size_t kFewNames = 4'096;
void forget_unused_names(World& world, const Queues& queue);

}  // namespace sched
