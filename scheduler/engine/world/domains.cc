#include "scheduler/engine/world/domains.h"

#include <algorithm>

namespace sched {

const std::vector<NodeSlot>& Domains::nodes_like(std::string_view key, std::string_view node) {
  static const std::vector<NodeSlot> kNone;
  const NodeSlot slot = nodes_.find(node);
  if (slot == kNoSlot || !nodes_.present(slot)) return kNone;
  const std::string* value = nodes_.facts(slot).labels.find(key);
  if (value == nullptr) return kNone;
  return indexed(key).nodes[*value];
}

std::vector<NodeSlot> Domains::nodes_matching(const k8s::NodeSelector& selector) {
  std::vector<NodeSlot> found;
  for (const k8s::NodeSelectorTerm& term : selector.terms) {
    const auto add_if_it_matches = [&](NodeSlot slot) {
      if (term.matches({}, nodes_.facts(slot).labels)) found.push_back(slot);
    };
    const auto values =
        std::find_if(term.match_expressions.begin(), term.match_expressions.end(),
                     [](const auto& each) { return each.op == k8s::SelectorOperator::kIn; });
    if (values == term.match_expressions.end()) {
      for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
        if (nodes_.present(slot)) add_if_it_matches(slot);
      }
      continue;
    }
    const auto& by_value = indexed(values->key).nodes;
    for (const std::string& value : values->values) {
      const auto with_value = by_value.find(value);
      if (with_value == by_value.end()) continue;
      for (const NodeSlot slot : with_value->second) add_if_it_matches(slot);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Domains::Key& Domains::indexed(std::string_view key) {
  const auto known = keys_.find(std::string(key));
  if (known != keys_.end() && known->second.facts_version == nodes_.facts_version()) {
    return known->second;
  }
  if (known == keys_.end() && keys_.size() == kMostKeys) keys_.clear();
  Key& fresh = keys_[std::string(key)];
  fresh = {.facts_version = nodes_.facts_version(), .nodes = {}};
  for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
    if (!nodes_.present(slot)) continue;
    if (const std::string* value = nodes_.facts(slot).labels.find(key)) {
      fresh.nodes[*value].push_back(slot);
    }
  }
  return fresh;
}

}  // namespace sched
