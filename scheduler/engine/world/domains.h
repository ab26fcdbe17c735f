// Which nodes carry which value of a label: the domains of rules across nodes.
//
// The index of a label is made at its first use, and then follows the change log. Pods name labels,
// and a user who may create pods may name many: from kMostKeys on, indexes that have no other owner
// are dropped again and again. So there is one index for each label in use; of a label that no node
// carries it stores nothing.
#pragma once

#include "k8s-client/api/selector.h"
#include "scheduler/cluster/nodes.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {

// The domains of one label.
class DomainIndex {
 public:
  // `nodes` outlives the index. `by_node`: each node that carries the label is a domain of its own;
  // with an empty key, each node is.
  DomainIndex(const Nodes& nodes, std::string key, bool by_node = false)
      : nodes_(nodes), key_(std::move(key)), by_node_(by_node) {}
  DomainIndex(const DomainIndex&) = delete;
  DomainIndex& operator=(const DomainIndex&) = delete;

  // Brings everything below up to date. O(nodes that changed since).
  void catch_up();

  // kNoDomain for a node that lacks the label or does not exist.
  [[nodiscard]] DomainId of(NodeSlot slot) const {
    return slot < of_.size() ? of_[slot] : kNoDomain;
  }
  // The domain of a node with these labels; kNoDomain, too, if no node has the value.
  [[nodiscard]] DomainId of(const NodeFacts& facts) const;
  // One past the largest domain; 0 until a node carries the label.
  [[nodiscard]] std::size_t size() const { return nodes_of_.size(); }
  // Whether no domain has a second node; and how often a domain got a second node. While that
  // number is the same, one_node_each() has not changed from true to false.
  [[nodiscard]] bool one_node_each() const { return crowded_ == 0; }
  [[nodiscard]] std::uint64_t crowdings() const { return crowdings_; }
  // The nodes of a domain, and the existing nodes that lack the label, by ascending slot. The
  // latter are not known while size() is 0: then all do.
  [[nodiscard]] const std::vector<NodeSlot>& in(DomainId domain) const { return nodes_of_[domain]; }
  [[nodiscard]] const std::vector<NodeSlot>& without() const { return without_; }
  // The nodes with that value of the label. Not for an index by node.
  [[nodiscard]] const std::vector<NodeSlot>& with(const std::string& value) const;

 private:
  [[nodiscard]] std::vector<NodeSlot> changed_since(ChangeLog::Position position) const;
  void review(NodeSlot slot);
  void leave(NodeSlot slot);
  // The name of the node's domain; null: it is in none.
  [[nodiscard]] const std::string* value_of(const NodeFacts& facts) const {
    if (key_.empty() && by_node_) return &facts.name;
    const std::string* value = facts.labels.find(key_);
    return value != nullptr && by_node_ ? &facts.name : value;
  }

  const Nodes& nodes_;
  std::string key_;
  bool by_node_ = false;
  std::unordered_map<std::string, DomainId> ids_;  // by value
  std::vector<const std::string*> values_;         // by domain, pointing into ids_; null: none
  std::vector<std::vector<NodeSlot>> nodes_of_;    // by domain
  std::vector<DomainId> unused_;
  std::vector<DomainId> of_;    // by slot
  std::vector<bool> lacks_it_;  // by slot: whether it is in without_
  std::vector<NodeSlot> without_;
  ChangeLog::Position position_ = 0;
  std::uint64_t facts_version_ = 0;
  std::size_t crowded_ = 0;  // domains with more than one node
  std::uint64_t crowdings_ = 0;
};

class Domains {
 public:
  static constexpr std::size_t kMostKeys = 32;

  // `nodes` outlives the indexes.
  explicit Domains(const Nodes& nodes) : nodes_(nodes) {}

  // The index of that label, up to date now.
  [[nodiscard]] std::shared_ptr<DomainIndex> of(const std::string& key, bool by_node = false);
  [[nodiscard]] std::size_t size() const { return indexes_.size(); }
  // The nodes with labels that match, by ascending slot; a term that matches fields matches no
  // node. O(nodes that carry one of the values) if each term asks for values of a label; else
  // O(nodes).
  [[nodiscard]] std::vector<NodeSlot> nodes_matching(const k8s::NodeSelector& selector);

 private:
  const Nodes& nodes_;
  std::map<std::pair<std::string, bool>, std::shared_ptr<DomainIndex>> indexes_;  // by label
  std::size_t drops_at_ = kMostKeys;  // how many indexes there are when unused ones are dropped
};

}  // namespace sched
