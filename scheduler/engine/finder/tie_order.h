// The order of equally good nodes, by a profile's tie-break.
#pragma once

#include "scheduler/base/random.h"
#include "scheduler/cluster/nodes.h"
#include "scheduler/framework/profile.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sched {

// A strict total order of the nodes that exist. With Order::kRandom it is the order of names: the
// random draw is the caller's.
class TieOrder {
 public:
  TieOrder(TieBreak tie_break, const Nodes& nodes) : tie_break_(tie_break), nodes_(nodes) {}

  [[nodiscard]] bool before(NodeSlot a, NodeSlot b) const {
    return before(a, b, [this](NodeSlot slot) { return nodes_.gpus(slot); });
  }
  // The same, but gpus_of(slot) replaces Nodes::gpus(): in a trial a node may offer another number
  // of GPUs.
  template <typename GpusOf>
  [[nodiscard]] bool before(NodeSlot a, NodeSlot b, GpusOf&& gpus_of) const {
    switch (tie_break_.order) {
      case TieBreak::Order::kFirstNode:
      case TieBreak::Order::kRandom:
        break;
      case TieBreak::Order::kShuffledNodes:
        if (shuffle_key(a) != shuffle_key(b)) return shuffle_key(a) < shuffle_key(b);
        break;
      case TieBreak::Order::kFewestGpusFirst:
        if (gpus_of(a) != gpus_of(b)) return gpus_of(a) < gpus_of(b);
        break;
    }
    return nodes_.rank(a) < nodes_.rank(b);
  }

  // hint(a) < hint(b) only if a is before b; nearly always one of two hints is lower. It changes
  // with the node's facts, and with the ranking of the nodes.
  [[nodiscard]] std::uint32_t hint(NodeSlot slot) const {
    constexpr std::uint64_t kNames = (1U << 24) - 1;
    const std::uint64_t name = std::min(nodes_.rank(slot) / Nodes::kRankGap, kNames);
    switch (tie_break_.order) {
      case TieBreak::Order::kFirstNode:
      case TieBreak::Order::kRandom:
        return static_cast<std::uint32_t>(name);
      case TieBreak::Order::kShuffledNodes:
        return static_cast<std::uint32_t>(shuffle_key(slot) >> 32);
      case TieBreak::Order::kFewestGpusFirst:
        break;
    }
    const auto gpus = static_cast<std::uint32_t>(std::clamp(nodes_.gpus(slot), 0, 255));
    // All nodes with so many GPUs have the same hint.
    return gpus == 255 ? gpus << 24 : gpus << 24 | static_cast<std::uint32_t>(name);
  }
  // Loads what hint() reads of these slots.
  void prefetch(NodeSlot from, std::size_t slots) const { nodes_.prefetch_ranks(from, slots); }

  [[nodiscard]] bool is_random() const { return tie_break_.order == TieBreak::Order::kRandom; }

 private:
  [[nodiscard]] std::uint64_t shuffle_key(NodeSlot slot) const {
    return mix64(nodes_.name_hash(slot) ^ mix64(tie_break_.seed));
  }

  TieBreak tie_break_;
  const Nodes& nodes_;
};

}  // namespace sched
