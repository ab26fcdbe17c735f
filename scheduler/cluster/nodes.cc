#include "scheduler/cluster/nodes.h"

#include "scheduler/base/text_hash.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace sched {

bool Nodes::upsert(NodeFacts facts) {
  const NodeSlot slot = slot_of(facts.name);
  Node& node = nodes_[slot];
  if (present(slot) && node.facts == facts) return false;
  if (!present(slot)) ++present_;
  node.facts = std::move(facts);
  changes_.append(slot);
  became(slot, gpus_of(node.facts), true);
  ++openings_;
  ++facts_version_;
  return true;
}

void Nodes::became(NodeSlot slot, std::int32_t gpus, bool present) {
  Status& status = statuses_[slot];
  status.facts_changed = changes_.end();
  status.gpus = gpus;
  status.present = present;
}

std::int32_t Nodes::gpus_of(const NodeFacts& facts) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      facts.allocatable.get(kNvidiaGpu), 0, std::numeric_limits<std::int32_t>::max()));
}

void Nodes::erase(std::string_view name) {
  const NodeSlot slot = find(name);
  if (slot == kNoSlot || !present(slot)) return;
  Node& node = nodes_[slot];
  --present_;
  NodeFacts nothing;
  nothing.name = std::move(node.facts.name);
  node.facts = std::move(nothing);
  changes_.append(slot);
  became(slot, 0, false);
  ++facts_version_;
  give_up_if_unused(slot);
}

NodeSlot Nodes::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? kNoSlot : found->second;
}

NodeSlot Nodes::slot_of(std::string_view name) {
  const auto found = by_name_.lower_bound(name);
  if (found != by_name_.end() && found->first == name) return found->second;

  NodeSlot slot = static_cast<NodeSlot>(nodes_.size());
  if (unused_.empty()) {
    nodes_.emplace_back();
    statuses_.emplace_back();
    name_hashes_.push_back(0);
  } else {
    slot = unused_.back();
    unused_.pop_back();
  }
  nodes_[slot].facts.name = name;
  name_hashes_[slot] = text_hash(name);
  rank_new(by_name_.emplace_hint(found, std::string(name), slot));
  return slot;
}

void Nodes::recounted(NodeSlot slot) {
  if (present(slot)) changes_.append(slot);
}

void Nodes::add(NodeSlot slot, const Occupant& occupant) {
  Node& node = nodes_[slot];
  insert(node, occupant);
  add_claim(node.usage, occupant.claim);
  if (present(slot)) changes_.append(slot);
}

void Nodes::remove(NodeSlot slot, const Occupant& occupant) {
  Node& node = nodes_[slot];
  node.occupants.erase(std::find(node.occupants.begin(), node.occupants.end(), &occupant));
  if (!subtract_claim(node.usage, occupant.claim)) sum_up(node);
  if (present(slot)) {
    changes_.append(slot);
    ++openings_;
  }
  give_up_if_unused(slot);
}

void Nodes::change(NodeSlot slot, Occupant& occupant, Occupant to) {
  Node& node = nodes_[slot];
  const bool same_claim = occupant.claim == to.claim;
  const bool counts_as_before = counts_alike(occupant, to);
  const bool moves = more_important(occupant, to) || more_important(to, occupant);
  if (moves)
    node.occupants.erase(std::find(node.occupants.begin(), node.occupants.end(), &occupant));
  const bool exact = same_claim || subtract_claim(node.usage, occupant.claim);
  occupant = std::move(to);
  if (moves) insert(node, occupant);
  if (same_claim) {
    if (!counts_as_before && present(slot)) changes_.append(slot);
    return;
  }
  if (exact) {
    add_claim(node.usage, occupant.claim);
  } else {
    sum_up(node);
  }
  if (!present(slot)) return;
  changes_.append(slot);
  ++openings_;
}

void Nodes::insert(Node& node, const Occupant& occupant) {
  const auto at =
      std::upper_bound(node.occupants.begin(), node.occupants.end(), &occupant,
                       [](const Occupant* a, const Occupant* b) { return more_important(*a, *b); });
  node.occupants.insert(at, &occupant);
}

void Nodes::sum_up(Node& node) {
  node.usage = {};
  for (const Occupant* occupant : node.occupants) add_claim(node.usage, occupant->claim);
}

void Nodes::give_up_if_unused(NodeSlot slot) {
  Node& node = nodes_[slot];
  if (present(slot) || !node.occupants.empty()) return;
  by_name_.erase(node.facts.name);
  node = Node{};
  unused_.push_back(slot);
}

void Nodes::rank_new(ByName::const_iterator position) {
  const auto after = std::next(position);
  const std::uint64_t low =
      position == by_name_.begin() ? 0 : statuses_[std::prev(position)->second].rank;
  if (after == by_name_.end()) {
    // Names often come in order: a name at the end gets a full gap.
    if (low < std::numeric_limits<std::uint64_t>::max() - kRankGap) {
      statuses_[position->second].rank = low + kRankGap;
      return;
    }
  } else if (const std::uint64_t high = statuses_[after->second].rank;
             high - low >= 2 && by_name_.size() <= 2 * ranked_together_) {
    statuses_[position->second].rank = low + (high - low) / 2;
    return;
  }
  rank_all();
}

void Nodes::rank_all() {
  ++ranking_version_;
  ranked_together_ = by_name_.size();
  std::uint64_t rank = 0;
  for (const auto& [name, slot] : by_name_) statuses_[slot].rank = rank += kRankGap;
}

}  // namespace sched
