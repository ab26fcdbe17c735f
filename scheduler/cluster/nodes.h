// The nodes: what they are, what is taken on them, and which of them changed.
//
// Every node that a Node object or a pod's spec.nodeName has named has a slot, so pods that arrive
// before their node (or outlive it) keep their claims, and count as soon as the node is there. A
// slot is given up when the node is gone and nothing occupies it any more.
//
// A change of facts or usage of a present node, its coming and its going are written to the change
// log; an event that says what is known already is not. Plugins are never asked about absent nodes.
#pragma once

#include "scheduler/cluster/change_log.h"
#include "scheduler/cluster/occupant.h"
#include "scheduler/framework/node_view.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

class Nodes {
 public:
  // What the Node object says now. True if that is news. The claims on it are kept.
  bool upsert(NodeFacts facts);
  // The Node object is gone. Claims on the node stay until their pods are gone.
  void erase(std::string_view name);

  // The slot of the node of that name, made if need be (the node is then absent).
  NodeSlot slot_of(std::string_view name);
  // The same, kNoSlot when there is none.
  [[nodiscard]] NodeSlot find(std::string_view name) const;

  // A pod or a reservation takes its share of the node / gives it back. The occupant is borrowed:
  // it must stay where it is, unchanged, until it is removed. O(occupants of the node).
  void add(NodeSlot slot, const Occupant& occupant);
  void remove(NodeSlot slot, const Occupant& occupant);
  // `occupant` (added before) becomes `to`. Only another claim, or that rules across nodes count it
  // otherwise, is a change of the node.
  void change(NodeSlot slot, Occupant& occupant, Occupant to);
  // What rules across nodes count of the node itself has become another.
  void recounted(NodeSlot slot);

  // Everything that takes room on the node, the most important first; of equals the one that came
  // first.
  [[nodiscard]] const std::vector<const Occupant*>& occupants(NodeSlot slot) const {
    return nodes_[slot].occupants;
  }

  [[nodiscard]] bool present(NodeSlot slot) const { return statuses_[slot].present; }
  [[nodiscard]] const NodeFacts& facts(NodeSlot slot) const { return nodes_[slot].facts; }
  [[nodiscard]] const NodeUsage& usage(NodeSlot slot) const { return nodes_[slot].usage; }
  [[nodiscard]] const std::string& name(NodeSlot slot) const { return nodes_[slot].facts.name; }
  [[nodiscard]] NodeView view(NodeSlot slot) const {
    return {nodes_[slot].facts, nodes_[slot].usage};
  }

  // Up to here in changes() the node's facts, or whether it is there, changed last: after it only
  // what is taken on it did.
  [[nodiscard]] ChangeLog::Position facts_changed(NodeSlot slot) const {
    return statuses_[slot].facts_changed;
  }

  // What a pod that comes or goes there makes its shapes read will be asked soon.
  void prefetch(NodeSlot slot) const {
    const Node& node = nodes_[slot];
    prefetch(&node.facts.gpu.product.hash, &node.usage.nonzero + 1);
  }

  // What is taken on the node by all but this occupant, which was added before.
  [[nodiscard]] NodeUsage usage_without(NodeSlot slot, const Occupant& occupant) const;

  // Nodes that are there.
  [[nodiscard]] std::size_t size() const { return present_; }
  // One past the largest slot in use.
  [[nodiscard]] std::size_t slots() const { return nodes_.size(); }

  // Position in the order of names: rank(a) < rank(b) exactly when name(a) < name(b). The numbers
  // may change when nodes come; the order of those that are there never does.
  [[nodiscard]] std::uint64_t rank(NodeSlot slot) const { return ranks_[slot]; }

  // A hash of the node's name, the same on every machine: what random orders are drawn from.
  [[nodiscard]] std::uint64_t name_hash(NodeSlot slot) const { return name_hashes_[slot]; }

  // All slots by name.
  using ByName = std::map<std::string, NodeSlot, std::less<>>;
  [[nodiscard]] const ByName& by_name() const { return by_name_; }

  [[nodiscard]] const ChangeLog& changes() const { return changes_; }
  // Grows with every change that may make a pod fit where it did not: all but added claims and
  // nodes that go.
  [[nodiscard]] std::uint64_t openings() const { return openings_; }
  // Grows when a node comes, goes, or is not what it was; claims do not count.
  [[nodiscard]] std::uint64_t facts_version() const { return facts_version_; }

 private:
  // What all shapes ask for stands last in the facts and first in the usage.
  struct Node {
    NodeFacts facts;  // only the name while the node is absent
    NodeUsage usage;
    std::vector<const Occupant*> occupants;  // by importance; `usage` is the sum of their claims
  };
  // What is asked of many nodes of which nothing else is: kept close together.
  struct Status {
    ChangeLog::Position facts_changed = 0;
    bool present = false;
  };

  static void prefetch(const void* from, const void* to) {
    constexpr std::size_t kCacheLine = 64;
    const auto* const end = static_cast<const std::byte*>(to);
    for (auto at = static_cast<const std::byte*>(from); at < end; at += kCacheLine) {
      __builtin_prefetch(at);
    }
    __builtin_prefetch(end - 1);
  }
  static void insert(Node& node, const Occupant& occupant);
  static void sum_up(Node& node);
  void give_up_if_unused(NodeSlot slot);
  void rank_new(ByName::const_iterator position);
  void rank_all();

  std::vector<Node> nodes_;
  std::vector<Status> statuses_;
  std::vector<std::uint64_t> ranks_;
  std::vector<std::uint64_t> name_hashes_;
  std::vector<NodeSlot> unused_;
  ByName by_name_;
  ChangeLog changes_;
  std::uint64_t openings_ = 0;
  std::uint64_t facts_version_ = 0;
  std::size_t present_ = 0;
};

}  // namespace sched
