// The room that a pod or a reservation takes on a node. It is given back when the object is
// destroyed.
//
// A pod that is assumed or bound has one; it is destroyed when a bind failed, or when the pod is
// gone, finished or on another node. A pod for which a node is held has one, too, as a reservation.
// What a pod takes besides room on a node, such as quota (quota/charges.h), is an object of its own
// that works in the same way.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/occupant.h"

namespace sched {

class Placement {
 public:
  // `nodes` outlives the placement.
  Placement(Nodes& nodes, NodeSlot node, Occupant occupant);
  ~Placement();
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  [[nodiscard]] NodeSlot node() const { return node_; }
  [[nodiscard]] const Occupant& occupant() const { return occupant_; }
  [[nodiscard]] const Claim& claim() const { return occupant_.claim; }

  // The same node and pod, with another claim (in-place resize), class, priority or state
  // (Nodes::change).
  void change(Occupant to);

 private:
  Nodes& nodes_;
  NodeSlot node_;
  Occupant occupant_;
};

}  // namespace sched
