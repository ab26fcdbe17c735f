// Which nodes carry which value of a label: the domains that rules across nodes speak of.
//
// An index of a label is made when somebody first asks for it, and follows the change log then.
// Pods name labels, and whoever may create pods may name many: beyond kMostKeys all are let go but
// those that somebody keeps, so that of a label that is in use there is one index.
#pragma once

#include "k8s-client/api/selector.h"
#include "scheduler/cluster/nodes.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {

// The domains of one label.
class DomainIndex {
 public:
  // `nodes` outlives the index. `by_node`: each node that carries the label is a domain of its own,
  // and each node where the key is empty.
  DomainIndex(const Nodes& nodes, std::string key, bool by_node = false)
      : nodes_(nodes), key_(std::move(key)), by_node_(by_node) {}
  DomainIndex(const DomainIndex&) = delete;
  DomainIndex& operator=(const DomainIndex&) = delete;

  // Brings what is below up to date. O(nodes that changed since).
  void catch_up();

  // kNoDomain of a node that lacks the label or is not there.
  [[nodiscard]] DomainId of(NodeSlot slot) const {
    return slot < of_.size() ? of_[slot] : kNoDomain;
  }
  // The domain of a node that is labelled so; kNoDomain too where no node has its value.
  [[nodiscard]] DomainId of(const NodeFacts& facts) const;
  // One past the largest domain.
  [[nodiscard]] std::size_t size() const { return nodes_of_.size(); }
  // Whether no domain has a second node; and how often one got a second: as long as that is the
  // same, it was so all the time.
  [[nodiscard]] bool one_node_each() const { return crowded_ == 0; }
  [[nodiscard]] std::uint64_t crowdings() const { return crowdings_; }
  // Those of a domain, and those that are there and lack the label, by ascending slot.
  [[nodiscard]] const std::vector<NodeSlot>& in(DomainId domain) const { return nodes_of_[domain]; }
  [[nodiscard]] const std::vector<NodeSlot>& without() const { return without_; }
  // By the value of the label. Not of one by node.
  [[nodiscard]] const std::vector<NodeSlot>& with(const std::string& value) const;

 private:
  void review(NodeSlot slot);
  void leave(NodeSlot slot);
  // What names the node's domain; null: it is in none.
  [[nodiscard]] const std::string* value_of(const NodeFacts& facts) const {
    if (key_.empty() && by_node_) return &facts.name;
    const std::string* value = facts.labels.find(key_);
    return value != nullptr && by_node_ ? &facts.name : value;
  }

  const Nodes& nodes_;
  std::string key_;
  bool by_node_ = false;
  std::unordered_map<std::string, DomainId> ids_;  // by value
  std::vector<const std::string*> values_;         // by domain, in ids_; null: of none
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
  // The nodes whose labels match; no node matches fields. By ascending slot. O(nodes that carry one
  // of the values, where each term asks for some of a label; else O(nodes)).
  [[nodiscard]] std::vector<NodeSlot> nodes_matching(const k8s::NodeSelector& selector);

 private:
  const Nodes& nodes_;
  std::map<std::pair<std::string, bool>, std::shared_ptr<DomainIndex>> indexes_;  // by label
};

}  // namespace sched
