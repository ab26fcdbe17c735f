// How the claims of a pod that wait for its node would get their volumes on each node.
//
// A claim takes the smallest free volume of its class that is large enough and can be used there,
// or one that is reserved for it; the smaller claims choose first. Where there is none a volume is
// provisioned, if the class does that for the node, and there is room.
//
// Source: kube-scheduler, plugins/volumebinding/binder.go; component-helpers, storage/volume.
#pragma once

#include "plugins/volume_binding/storage.h"
#include "scheduler/framework/node_view.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plugins {

class Matching {
 public:
  using Claim = Storage::Claim;
  using Volume = Storage::Volume;

  // The claims all wait for their pod. Holds until `storage`, which outlives it, changes.
  Matching(const Storage& storage, const std::vector<const Claim*>& claims);

  struct OnNode {
    enum class Result { kFits, kNoVolume, kNoRoom } result = Result::kFits;
    std::vector<std::pair<const Claim*, const Volume*>> bound;  // would be
    std::vector<const Claim*> provisioned;                      // would be
  };
  [[nodiscard]] OnNode on(const sched::NodeFacts& node) const;

  // Where the answer follows from a node's labels alone: the selector of those on which it fits,
  // and null where it does on all; on the others it is kNoVolume. nullopt: it is not as simple.
  [[nodiscard]] std::optional<const k8s::NodeSelector*> by_labels() const;

 private:
  struct Wanted {
    const Claim* claim;
    std::string selected;               // the node, or empty
    const Volume* reserved;             // no other volume will do; null: any that fits
    std::vector<const Volume*> others;  // free ones that fit it and are not tied to a host, by size
    const Storage::Pool* pool;          // where those of hosts are; null: there are none
    const k8s::StorageClass* of;
    std::optional<std::vector<const k8s::LabelSelector*>> room;
  };
  [[nodiscard]] static const Volume* find(const Wanted& wanted, const sched::NodeFacts& node,
                                          const std::vector<const Volume*>& taken);
  [[nodiscard]] static OnNode::Result provision(const Wanted& wanted, const sched::NodeFacts& node);

  std::vector<Wanted> selected_;  // those whose node is selected, in the pod's order
  std::vector<Wanted> open_;      // the others, the smaller ones first
};

}  // namespace plugins
