// The different verdicts of a shape, interned, and how many nodes gave each. The message of a pod
// that fits nowhere is made of these counts, so its cost does not depend on the number of nodes.
#pragma once

#include "scheduler/engine/finder/prepared_shape.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sched {

class VerdictCounts {
 public:
  // Index of a verdict. Valid while some node has the verdict.
  using Id = std::uint32_t;

  // One more node has this verdict.
  Id add(const NodeVerdict& verdict);
  // `nodes` more nodes have this verdict.
  void add(const NodeVerdict& verdict, std::size_t nodes) {
    if (nodes > 0) entries_[add(verdict)].nodes += nodes - 1;
  }
  // One node fewer has this verdict.
  void remove(Id id);

  [[nodiscard]] const NodeVerdict& verdict(Id id) const { return entries_[id].verdict; }

  // Bytes, approximately.
  [[nodiscard]] std::size_t memory() const;

  // Calls visit(verdict, nodes) for each verdict that some node has.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.nodes > 0) visit(entry.verdict, entry.nodes);
    }
  }

 private:
  struct Entry {
    NodeVerdict verdict;
    std::size_t nodes = 0;
  };
  struct Hash {
    std::size_t operator()(const NodeVerdict& verdict) const;
  };

  std::vector<Entry> entries_;
  std::vector<Id> unused_;
  std::unordered_map<NodeVerdict, Id, Hash> ids_;
};

}  // namespace sched
