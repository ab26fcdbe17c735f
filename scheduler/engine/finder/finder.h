// Finds where a pod may go, and if nowhere, why. Only this class answers that.
//
// A question is about a shape under a profile, within a scope (the nodes that rules across nodes
// leave), in a world: the nodes as they are, or a trial (where.h).
//
//   refresh()        brings what is stored for the shape up to date
//   ruling_…()       brings what is counted for rules across nodes up to date
//   known_refusal()  brings what is stored up to date, if anything is
//   the rest         changes nothing; no question draws a random number or writes to a log
//
// The result of refresh() answers for all nodes at once: how many take the pod, which is the best,
// what refuses it. verdict() asks one node, also for a shape for which nothing is stored.
//
// questions/candidates.cc asks verdict() of every node, and ranks the nodes by itself. Tests
// compare its answers with what is stored here.
#pragma once

#include "scheduler/engine/finder/rulings.h"
#include "scheduler/engine/finder/score_caches.h"
#include "scheduler/engine/finder/where.h"
#include "scheduler/engine/world/world.h"

#include <cstdint>

namespace sched {

class Finder {
 public:
  // `world` outlives the finder; its options limit what is stored.
  explicit Finder(World& world)
      : nodes_(world.nodes),
        names_(world.names),
        site_labels_(world.options.site_labels),
        caches_(world.nodes, world.profiles, world.names, world.statistics,
                world.options.memory.shapes),
        rulings_(world, world.options.memory.counts) {}

  // All nodes' answers to the shape, up to date, for questions about that scope and about all
  // nodes. The reference is valid until the next call.
  const ScoreCache& refresh(std::size_t profile, const ShapeRef& shape, const Scope& scope = {}) {
    return caches_.get(profile, shape, scope);
  }
  // The same for questions about a pod for which the ruling leaves nodes out.
  const ScoreCache& refresh(const WaitingPod& pod, const Ruling& ruling, const Scope& scope = {}) {
    if (ruling.none()) return refresh(pod.profile, pod.shape, scope);
    return caches_.get(pod.profile, pod.shape, scope, ruling);
  }

  // How many nodes were looked at so far for shapes and rules for which nothing was stored, or is
  // ever stored: each such question looks at all nodes.
  [[nodiscard]] std::uint64_t searched() const { return caches_.searched() + rulings_.searched(); }

  // How all nodes refuse the shape, if what is stored says so; nullopt: one may take it.
  // O(nodes that changed since).
  [[nodiscard]] std::optional<RefusedBy> known_refusal(std::size_t profile, const ShapeRef& shape) {
    return caches_.known_refusal(profile, shape);
  }

  // The nodes that rules across nodes rule out for a waiting pod / in a world without some pods /
  // with some more, and what that costs / for any pod in that world, without storing anything
  // (rulings.h).
  [[nodiscard]] Ruling ruling_for(const WaitingPod& pod) { return rulings_.of(pod); }
  [[nodiscard]] Ruling ruling_without(const WaitingPod& pod, const Trial& trial) {
    return rulings_.without(pod, trial);
  }
  [[nodiscard]] Ruling ruling_with(const WaitingPod& pod, const Trial& trial) {
    return rulings_.with(pod, trial);
  }
  [[nodiscard]] std::vector<NodeSlot> together_with(const WaitingPod& pod, NodeSlot node,
                                                    const Trial& trial) {
    return rulings_.together_with(pod, node, trial);
  }
  [[nodiscard]] std::size_t cost_of_ruling(const WaitingPod& pod) {
    return rulings_.cost_without(pod);
  }
  [[nodiscard]] Ruling ruling_anew(const k8s::Pod& pod, std::size_t profile,
                                   const RefusedBinds& refused, const Trial& trial) const {
    return rulings_.anew(pod, profile, refused, trial);
  }

  // The answer to the shape of a node that exists. Not after a rejection.
  [[nodiscard]] NodeVerdict verdict(const PreparedShape& shape, NodeSlot node,
                                    const Where& where = {}) const;
  // Whether the node, if it were empty, would take the shape when it offers again what is awaited
  // from it (world/awaited_devices.h). False if nothing is. Not in a trial; not after a rejection.
  [[nodiscard]] bool takes_with_awaited(const PreparedShape& shape, NodeSlot node,
                                        Where where = {}) const;
  // The node in that world.
  [[nodiscard]] NodeView view(NodeSlot node, const Where& where = {}) const;

 private:
  const Nodes& nodes_;
  const ResourceNames& names_;
  const gpu::SiteLabels& site_labels_;
  ScoreCaches caches_;
  Rulings rulings_;
};

}  // namespace sched
