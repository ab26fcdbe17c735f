#include "scheduler/cluster/placement.h"

#include <utility>

namespace sched {

Placement::Placement(Nodes& nodes, NodeSlot node, Occupant occupant)
    : nodes_(nodes), node_(node), occupant_(std::move(occupant)) {
  nodes_.add(node_, occupant_);
}

Placement::~Placement() { nodes_.remove(node_, occupant_); }

void Placement::change(Occupant to) { nodes_.change(node_, occupant_, std::move(to)); }

}  // namespace sched
