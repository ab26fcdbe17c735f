// Which nodes carry which value of a label: the domains that rules across nodes speak of.
//
// A key is indexed when it is first asked about, and again when nodes have changed since. Pods name
// keys, and whoever may create pods may name many: beyond kMostKeys all are forgotten.
#pragma once

#include "k8s-client/api/selector.h"
#include "scheduler/cluster/nodes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sched {

class Domains {
 public:
  static constexpr std::size_t kMostKeys = 32;

  // `nodes` outlives the index.
  explicit Domains(const Nodes& nodes) : nodes_(nodes) {}

  // The nodes that carry the same value of that label as the node of that name, itself among them,
  // by ascending slot; empty where it lacks the label or is not there. The reference holds until
  // the next call. O(1), and O(nodes) where the key is indexed.
  [[nodiscard]] const std::vector<NodeSlot>& nodes_like(std::string_view key,
                                                        std::string_view node);
  // The nodes whose labels match; no node matches fields. By ascending slot. O(nodes that carry one
  // of the values, where each term asks for some of a label; else O(nodes)).
  [[nodiscard]] std::vector<NodeSlot> nodes_matching(const k8s::NodeSelector& selector);

 private:
  struct Key {
    std::uint64_t facts_version = 0;  // of the nodes, when it was indexed
    std::unordered_map<std::string, std::vector<NodeSlot>> nodes;  // by value
  };
  Key& indexed(std::string_view key);

  const Nodes& nodes_;
  std::unordered_map<std::string, Key> keys_;
};

}  // namespace sched
