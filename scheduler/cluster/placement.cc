#include "scheduler/cluster/placement.h"

#include <utility>

namespace sched {

Placement::Placement(Nodes& nodes, NodeSlot node, Claim claim)
    : nodes_(nodes), node_(node), claim_(std::move(claim)) {
  nodes_.add(node_, claim_);
}

Placement::~Placement() { nodes_.remove(node_, claim_); }

void Placement::resize(Claim claim) {
  if (claim != claim_) nodes_.change(node_, claim_, std::move(claim));
}

}  // namespace sched
