// How the claims of a pod that wait for its node would get their volumes on each node.
//
// A claim takes the smallest free volume of its class that is large enough and can be used there,
// or one that is reserved for it; smaller claims choose first. If there is none, a volume is
// provisioned, if the class does that for the node and there is room.
//
// Source: kube-scheduler, plugins/volumebinding/binder.go; component-helpers, storage/volume.
#pragma once

#include "plugins/volume_binding/storage.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/framework/plugin.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace plugins {

class Matching {
 public:
  using VolumeClaim = Storage::VolumeClaim;
  using Volume = Storage::Volume;

  // All claims wait for their pod. Valid until `storage`, which outlives it, changes.
  Matching(const Storage& storage, const std::vector<const VolumeClaim*>& claims);

  struct OnNode {
    enum class Result { kFits, kNoVolume, kNoRoom } result = Result::kFits;
    std::vector<std::pair<const VolumeClaim*, const Volume*>> bound;  // would be bound
    std::vector<const VolumeClaim*> provisioned;                      // would be provisioned
  };
  // What other pods, whose bind has not begun, are to have on the node.
  struct Taken {
    std::unordered_set<const VolumeClaim*> claims;
    std::unordered_set<const Volume*> volumes;
    void add(const OnNode& of_pod);
  };
  // Claims that another pod is to have there are not asked about again.
  [[nodiscard]] OnNode on(const sched::NodeFacts& node, const Taken& by_others = {}) const;
  // What on() costs, in looks at a node: with one volume that is tied to its host.
  [[nodiscard]] std::size_t cost() const;

  // The nodes that are left, as far as that is known without asking each of them: by name, or those
  // that match a selector, which is never null. `exact`: all of them fit, and all others are
  // kNoVolume; else each node that is left must be asked.
  struct Left {
    std::variant<sched::NamedNodes, const k8s::NodeSelector*> nodes;
    bool exact = false;
  };
  [[nodiscard]] Left left() const;
  // Whether on() may return kNoRoom.
  [[nodiscard]] bool looks_for_room() const;

 private:
  // The selectors of the nodes where there is room. Most name one label, such as the host's: a
  // cluster with disks in its nodes has one for each node.
  class Segments {
   public:
    explicit Segments(const std::vector<const k8s::LabelSelector*>& all);
    [[nodiscard]] bool some_matches(const k8s::StringMap& labels) const;
    // What it costs, in looks at a node, with the share of a node in finding the selectors.
    [[nodiscard]] std::size_t cost() const { return 1 + others_.size(); }

   private:
    std::map<std::string_view, std::unordered_set<std::string_view>> by_label_;
    std::vector<const k8s::LabelSelector*> others_;
  };
  struct Wanted {
    const VolumeClaim* claim;
    std::string selected;               // the node, or empty
    const Volume* reserved;             // no other volume is possible; null: any that fits
    std::vector<const Volume*> others;  // free ones that fit and are not tied to a host, by size
    const Storage::Pool* pool;  // has the volumes that are tied to a host; null: there are none
    const k8s::StorageClass* of;
    std::shared_ptr<const Segments> room;  // null: not reported, or it does not matter
  };
  // No existing volume fits, on any node.
  [[nodiscard]] static bool finds_none(const Wanted& wanted);
  [[nodiscard]] static bool is_provisioned(const Wanted& wanted);
  // `is_left`: whether the volume is not taken and can be used there.
  template <typename IsLeft>
  [[nodiscard]] static const Volume* find(const Wanted& wanted, const sched::NodeFacts& node,
                                          const IsLeft& is_left);
  [[nodiscard]] static OnNode::Result provision(const Wanted& wanted, const sched::NodeFacts& node);

  std::vector<Wanted> selected_;  // those with a selected node, in the pod's order
  std::vector<Wanted> open_;      // the others, the smaller ones first
};

}  // namespace plugins
