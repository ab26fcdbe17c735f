// The raw values of one score over the nodes that the pod may run on, and their extremes: what
// normalising needs.
//
// Most such scores are 0 on every node (nobody has soft taints): no value is kept until one is not.
#pragma once

#include "scheduler/cluster/change_log.h"
#include "scheduler/engine/finder/prepared_shape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace sched {

class RawScores {
 public:
  // The node, which is none of them, becomes one. `slots`: above every slot. O(log values).
  void add(NodeSlot slot, std::int64_t raw, std::size_t slots) {
    ++nodes_with_[raw];
    if (raw != 0 || !values_.empty()) {
      if (values_.size() < slots) values_.resize(slots);
      values_[slot] = raw;
    }
  }
  // The node is one of them no more.
  void remove(NodeSlot slot) {
    const auto found = nodes_with_.find(of(slot));
    if (--found->second == 0) nodes_with_.erase(found);
  }

  // Of a node that is one of them.
  [[nodiscard]] std::int64_t of(NodeSlot slot) const {
    return slot < values_.size() ? values_[slot] : 0;
  }
  // Both 0 when there are no nodes.
  [[nodiscard]] Extremes extremes() const {
    if (nodes_with_.empty()) return {};
    return {nodes_with_.begin()->first, nodes_with_.rbegin()->first};
  }
  // The same if nodes with the values `gone` were none of them, and nodes with the values `come`
  // were. O(gone · log gone + come).
  [[nodiscard]] Extremes extremes_with(std::vector<std::int64_t> gone,
                                       const std::vector<std::int64_t>& come) const {
    std::sort(gone.begin(), gone.end());
    const auto is_left = [&](const auto& value_and_nodes) {
      const auto [from, to] = std::equal_range(gone.begin(), gone.end(), value_and_nodes.first);
      return static_cast<std::size_t>(to - from) < value_and_nodes.second;
    };
    std::optional<Extremes> found;
    const auto least = std::find_if(nodes_with_.begin(), nodes_with_.end(), is_left);
    if (least != nodes_with_.end()) {
      const auto most = std::find_if(nodes_with_.rbegin(), nodes_with_.rend(), is_left);
      found = {least->first, most->first};
    }
    for (const std::int64_t value : come) {
      if (!found) found = {value, value};
      found->min = std::min(found->min, value);
      found->max = std::max(found->max, value);
    }
    return found.value_or(Extremes{});
  }
  // Bytes, roughly.
  [[nodiscard]] std::size_t memory() const { return values_.capacity() * sizeof(std::int64_t); }

 private:
  std::vector<std::int64_t> values_;                // by slot; beyond the end: 0
  std::map<std::int64_t, std::size_t> nodes_with_;  // by value
};

}  // namespace sched
