// The nodes: their facts, what is taken on them, and which of them changed.
//
// Every node that a Node object or a pod's spec.nodeName has named has a slot. So pods that arrive
// before their node (or outlive it) keep their claims, which count as soon as the node exists. A
// slot is freed when the node is gone and nothing occupies it any more.
//
// A change of facts or usage of a present node, its appearance and its removal are written to the
// change log. An event that changes nothing is not. Plugins are never asked about absent nodes.
#pragma once

#include "scheduler/cluster/change_log.h"
#include "scheduler/cluster/occupant.h"
#include "scheduler/framework/node_view.h"

#include <algorithm>
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
  // The node's facts from its Node object. True if they changed. The claims on it are kept.
  bool upsert(NodeFacts facts);
  // The Node object is gone. Claims on the node stay until their pods are gone.
  void erase(std::string_view name);

  // The slot of the node of that name, created if there is none (the node is then absent).
  NodeSlot slot_of(std::string_view name);
  // The same; kNoSlot if there is none.
  [[nodiscard]] NodeSlot find(std::string_view name) const;

  // Adds / removes a pod or a reservation. The occupant is not copied: it must stay at its address,
  // unchanged, until it is removed. O(occupants of the node).
  void add(NodeSlot slot, const Occupant& occupant);
  void remove(NodeSlot slot, const Occupant& occupant);
  // `occupant` (added before) becomes `to`. The node changes only if the claim is another, or if
  // rules across nodes count the occupant differently.
  void change(NodeSlot slot, Occupant& occupant, Occupant to);
  // What rules across nodes count of the node itself has changed.
  void recounted(NodeSlot slot);

  // All occupants of the node, the most important first; among equals the earlier added first.
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

  // The position in changes() of the last change of the node's facts or presence: changes after it
  // are only of usage.
  [[nodiscard]] ChangeLog::Position facts_changed(NodeSlot slot) const {
    return statuses_[slot].facts_changed;
  }

  // Loads the memory that shapes read after a pod has come to the node or left it.
  void prefetch(NodeSlot slot) const {
    const Node& node = nodes_[slot];
    prefetch(&node.facts.gpu.product.hash, &node.usage.nonzero + 1);
  }

  // Loads what rank() and gpus() read of these slots.
  void prefetch_ranks(NodeSlot from, std::size_t slots) const {
    if (from >= statuses_.size()) return;
    slots = std::min(slots, statuses_.size() - from);
    prefetch(&statuses_[from], &statuses_[from] + slots);
  }

  // How many nodes exist.
  [[nodiscard]] std::size_t size() const { return present_; }
  // One past the largest slot in use.
  [[nodiscard]] std::size_t slots() const { return nodes_.size(); }

  // Position in the order of names: rank(a) < rank(b) exactly when name(a) < name(b). Nodes ranked
  // together are kRankGap apart; those that came between them since are no more than these.
  [[nodiscard]] std::uint64_t rank(NodeSlot slot) const { return statuses_[slot].rank; }
  static constexpr std::uint64_t kRankGap = std::uint64_t{1} << 32;
  // Grows when the existing nodes get other ranks, because too many have come between them.
  [[nodiscard]] std::uint64_t ranking_version() const { return ranking_version_; }

  // How many nvidia.com/gpu the node offers, 2^31 − 1 at most: whole GPUs or pieces of shared ones.
  [[nodiscard]] std::int32_t gpus(NodeSlot slot) const { return statuses_[slot].gpus; }
  [[nodiscard]] static std::int32_t gpus_of(const NodeFacts& facts);

  // A hash of the node's name, equal on every machine; random orders are made from it.
  [[nodiscard]] std::uint64_t name_hash(NodeSlot slot) const { return name_hashes_[slot]; }

  // All slots by name.
  using ByName = std::map<std::string, NodeSlot, std::less<>>;
  [[nodiscard]] const ByName& by_name() const { return by_name_; }

  [[nodiscard]] const ChangeLog& changes() const { return changes_; }
  // Grows with every change that may make a pod fit where it did not: every change except added
  // claims and removed nodes.
  [[nodiscard]] std::uint64_t openings() const { return openings_; }
  // Grows when a node is added, removed, or its facts change; claims do not count.
  [[nodiscard]] std::uint64_t facts_version() const { return facts_version_; }

 private:
  // What all shapes read is at the end of the facts and at the beginning of the usage.
  struct Node {
    NodeFacts facts;  // only the name while the node is absent
    NodeUsage usage;
    std::vector<const Occupant*> occupants;  // by importance; `usage` is the sum of their claims
  };
  // For many nodes only this is read: so it is stored close together.
  struct Status {
    ChangeLog::Position facts_changed = 0;
    std::uint64_t rank = 0;
    std::int32_t gpus = 0;
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
  // The facts have changed just now.
  void became(NodeSlot slot, std::int32_t gpus, bool present);
  static void insert(Node& node, const Occupant& occupant);
  static void sum_up(Node& node);
  void give_up_if_unused(NodeSlot slot);
  void rank_new(ByName::const_iterator position);
  void rank_all();

  std::vector<Node> nodes_;
  std::vector<Status> statuses_;
  std::vector<std::uint64_t> name_hashes_;
  std::vector<NodeSlot> unused_;
  ByName by_name_;
  ChangeLog changes_;
  std::uint64_t openings_ = 0;
  std::uint64_t facts_version_ = 0;
  std::uint64_t ranking_version_ = 0;
  std::size_t ranked_together_ = 0;  // how many nodes there were when all were ranked
  std::size_t present_ = 0;
};

}  // namespace sched
