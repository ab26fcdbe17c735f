// The nodes as they would be: with some occupants taken away, some claims added, and the facts of
// some nodes replaced.
//
// A trial is a sparse overlay of the nodes as they are. It costs what it touches, is never written
// to the change log, and leaves no trace when it is destroyed. Every question about the nodes can
// be asked about a trial (finder.h): what would be if a pod were preempted, if the rest of a gang
// were in place, if a node's GPUs were repartitioned.
//
// It is for one question or a few: the nodes must not change during its lifetime. For additional
// nodes or changed quotas, use a second engine.
//
// A trial is not carried out itself. What was found in one is assumed pod by pod
// (actions/place_group.cc: all of them or none), because that also charges quotas, and begins the
// plans of pods that have to be prepared.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/occupant.h"
#include "scheduler/framework/pod_difference.h"

#include <optional>
#include <vector>

namespace sched {

class Trial {
 public:
  // `nodes` outlives the trial and does not change meanwhile.
  explicit Trial(const Nodes& nodes) : nodes_(nodes) {}

  // Takes the occupant, which is on that node, away. O(resources that are taken there).
  void take_away(NodeSlot slot, const Occupant& occupant);
  // Undoes take_away().
  void put_back(NodeSlot slot, const Occupant& occupant);
  // Adds one more pod. The occupant is copied. `pod` outlives the trial; null: rules that read more
  // of a pod than its class, such as its volumes, do not know of it.
  void add(NodeSlot slot, const Occupant& occupant, const k8s::Pod* pod = nullptr);
  // Replaces the facts of the node; its name must be the same. What is taken there stays.
  void replace(NodeSlot slot, NodeFacts facts);

  // Of a node that exists.
  [[nodiscard]] NodeView view(NodeSlot slot) const;

  // The occupants of the node in the trial; their order means nothing.
  [[nodiscard]] std::vector<const Occupant*> occupants(NodeSlot slot) const;

  // The pods that differ, for rules across nodes. O(their number).
  [[nodiscard]] PodDifference difference() const;

  // The nodes that differ, or may differ, from their present state; by ascending slot.
  [[nodiscard]] const std::vector<NodeSlot>& touched() const { return touched_; }

 private:
  struct Overlay {
    std::optional<NodeFacts> facts;  // nullopt: as they are
    NodeUsage usage;
    std::vector<const Occupant*> gone;
    std::vector<Occupant> added;
    std::vector<PodDifference::Added> added_pods;
  };
  // Null: the node is not touched.
  [[nodiscard]] const Overlay* overlay(NodeSlot slot) const;
  Overlay& touch(NodeSlot slot);
  // Calls visit(occupant) for each occupant in the trial.
  template <typename Visit>
  void for_each_occupant(NodeSlot slot, const Overlay& overlay, Visit&& visit) const;

  const Nodes& nodes_;
  // Few: searched one by one.
  std::vector<NodeSlot> touched_;
  std::vector<Overlay> overlays_;  // of touched_
};

}  // namespace sched
