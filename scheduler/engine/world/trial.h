// The nodes as they would be: with some occupants taken away, some claims added, and facts of some
// nodes replaced.
//
// A trial is a sparse overlay of the nodes as they are. It costs what it touches, is never written
// to the change log, and leaves no trace when it is dropped. Every question that can be put to the
// nodes as they are can be put to a trial (finder.h): what would be if a pod were preempted, if the
// rest of a gang were in place, if a node's GPUs were cut otherwise.
//
// It is for one question or a few: the nodes must not change while it lives. Nodes to add and
// quotas to change are asked of a second engine.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/occupant.h"

#include <optional>
#include <vector>

namespace sched {

class Trial {
 public:
  // `nodes` outlives the trial and stays as it is meanwhile.
  explicit Trial(const Nodes& nodes) : nodes_(nodes) {}

  // The occupant, which is on that node, would be gone. O(resources that are taken there).
  void take_away(NodeSlot slot, const Occupant& occupant);
  // It would stay after all.
  void put_back(NodeSlot slot, const Occupant& occupant);
  // One pod more would be there. The occupant is copied.
  void add(NodeSlot slot, const Occupant& occupant);
  // The node would be this. What is taken there stays. Its name must be the same.
  void replace(NodeSlot slot, NodeFacts facts);

  // Of a node that is there.
  [[nodiscard]] NodeView view(NodeSlot slot) const;

  // Who would be on it, in no order that means anything.
  [[nodiscard]] std::vector<const Occupant*> occupants(NodeSlot slot) const;

  // The nodes that are, or may be, other than they are; by ascending slot.
  [[nodiscard]] const std::vector<NodeSlot>& touched() const { return touched_; }

 private:
  struct Overlay {
    std::optional<NodeFacts> facts;  // nullopt: as they are
    NodeUsage usage;
    std::vector<const Occupant*> gone;
    std::vector<Occupant> added;
  };
  // Null: the node is as it is.
  [[nodiscard]] const Overlay* overlay(NodeSlot slot) const;
  Overlay& touch(NodeSlot slot);
  // Calls visit(occupant) for each that would be there.
  template <typename Visit>
  void for_each_occupant(NodeSlot slot, const Overlay& overlay, Visit&& visit) const;

  const Nodes& nodes_;
  // Few: searched one by one.
  std::vector<NodeSlot> touched_;
  std::vector<Overlay> overlays_;  // of touched_
};

}  // namespace sched
