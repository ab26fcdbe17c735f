#include "scheduler/engine/world/domains.h"

namespace sched {

const std::vector<NodeSlot>& Domains::nodes_like(std::string_view key, std::string_view node) {
  static const std::vector<NodeSlot> kNone;
  const NodeSlot slot = nodes_.find(node);
  if (slot == kNoSlot || !nodes_.present(slot)) return kNone;
  const std::string* value = nodes_.facts(slot).labels.find(key);
  if (value == nullptr) return kNone;
  return indexed(key).nodes[*value];
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
