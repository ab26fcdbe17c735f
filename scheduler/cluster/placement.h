// A pod's hold on a node, undone when the object dies.
//
// A pod that is assumed or bound has one; giving it up (a bind failed, the pod is gone, finished or
// elsewhere) is destroying it. What a placement takes besides capacity is a further member of this
// kind: members are undone in reverse order of their declaration.
#pragma once

#include "scheduler/cluster/claim.h"
#include "scheduler/cluster/nodes.h"

namespace sched {

class Placement {
 public:
  // `nodes` outlives the placement.
  Placement(Nodes& nodes, NodeSlot node, Claim claim);
  ~Placement();
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  [[nodiscard]] NodeSlot node() const { return node_; }
  [[nodiscard]] const Claim& claim() const { return claim_; }

  // The same node, another claim (an in-place resize). Equal claims change nothing.
  void resize(Claim claim);

 private:
  Nodes& nodes_;
  NodeSlot node_;
  Claim claim_;
};

}  // namespace sched
