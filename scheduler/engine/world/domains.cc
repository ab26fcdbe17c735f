#include "scheduler/engine/world/domains.h"

#include <algorithm>
#include <utility>

namespace sched {
namespace {

void insert(std::vector<NodeSlot>& ascending, NodeSlot slot) {
  ascending.insert(std::lower_bound(ascending.begin(), ascending.end(), slot), slot);
}
void erase(std::vector<NodeSlot>& ascending, NodeSlot slot) {
  ascending.erase(std::lower_bound(ascending.begin(), ascending.end(), slot));
}

}  // namespace

void DomainIndex::catch_up() {
  if (facts_version_ != nodes_.facts_version() || position_ == 0) {
    std::vector<NodeSlot> changed = changed_since(position_);
    if (nodes_of_.empty()) {
      const bool is_carried = std::any_of(changed.begin(), changed.end(), [&](NodeSlot slot) {
        return nodes_.present(slot) && value_of(nodes_.facts(slot)) != nullptr;
      });
      changed = is_carried ? changed_since(0) : std::vector<NodeSlot>();
    }
    if (!changed.empty()) {
      of_.resize(nodes_.slots(), kNoDomain);
      lacks_it_.resize(nodes_.slots());
    }
    // If all nodes are new, each is appended to its domain, because slots ascend.
    std::sort(changed.begin(), changed.end());
    for (const NodeSlot slot : changed) review(slot);
    facts_version_ = nodes_.facts_version();
  }
  position_ = nodes_.changes().end();
}

std::vector<NodeSlot> DomainIndex::changed_since(ChangeLog::Position position) const {
  std::vector<NodeSlot> changed;
  nodes_.changes().since(position, [&](NodeSlot slot) {
    if (nodes_.facts_changed(slot) > position) changed.push_back(slot);
  });
  return changed;
}

void DomainIndex::review(NodeSlot slot) {
  const bool present = nodes_.present(slot);
  const std::string* value = present ? value_of(nodes_.facts(slot)) : nullptr;
  const bool lacks_it = present && value == nullptr;
  if (lacks_it != lacks_it_[slot]) {
    lacks_it_[slot] = lacks_it;
    if (lacks_it) {
      insert(without_, slot);
    } else {
      erase(without_, slot);
    }
  }
  const DomainId was = of_[slot];
  if (value != nullptr && was != kNoDomain && *values_[was] == *value) return;
  if (was != kNoDomain) leave(slot);
  if (value == nullptr) return;
  const auto [known, is_new] = ids_.try_emplace(*value);
  if (is_new) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<DomainId>(nodes_of_.size()));
      nodes_of_.emplace_back();
      values_.push_back(nullptr);
    }
    known->second = unused_.back();
    unused_.pop_back();
    values_[known->second] = &known->first;
  }
  of_[slot] = known->second;
  insert(nodes_of_[known->second], slot);
  if (nodes_of_[known->second].size() != 2) return;
  ++crowded_;
  ++crowdings_;
}

void DomainIndex::leave(NodeSlot slot) {
  const DomainId domain = std::exchange(of_[slot], kNoDomain);
  erase(nodes_of_[domain], slot);
  if (nodes_of_[domain].size() == 1) --crowded_;
  if (!nodes_of_[domain].empty()) return;
  ids_.erase(ids_.find(*values_[domain]));
  values_[domain] = nullptr;
  unused_.push_back(domain);
}

DomainId DomainIndex::of(const NodeFacts& facts) const {
  const std::string* value = value_of(facts);
  if (value == nullptr) return kNoDomain;
  const auto known = ids_.find(*value);
  return known == ids_.end() ? kNoDomain : known->second;
}

const std::vector<NodeSlot>& DomainIndex::with(const std::string& value) const {
  static const std::vector<NodeSlot> kNone;
  const auto known = ids_.find(value);
  return known == ids_.end() ? kNone : nodes_of_[known->second];
}

std::shared_ptr<DomainIndex> Domains::of(const std::string& key, bool by_node) {
  auto known = indexes_.find({key, by_node});
  if (known == indexes_.end()) {
    if (indexes_.size() >= drops_at_) {
      std::erase_if(indexes_, [](const auto& index) { return index.second.use_count() == 1; });
      drops_at_ = std::max(kMostKeys, 2 * indexes_.size());
    }
    known =
        indexes_
            .emplace(std::pair(key, by_node), std::make_shared<DomainIndex>(nodes_, key, by_node))
            .first;
  }
  known->second->catch_up();
  return known->second;
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
    const std::shared_ptr<DomainIndex> index = of(values->key);
    for (const std::string& value : values->values) {
      for (const NodeSlot slot : index->with(value)) add_if_it_matches(slot);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace sched
