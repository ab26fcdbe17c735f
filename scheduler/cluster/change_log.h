// Which nodes changed, in order, so that each reader visits only those that changed since its last
// visit.
//
// The log is compacted per node: a node that changes again moves to the end. So a reader visits
// each node at most once however often it changed, and the log never has more entries than there
// are slots. It is a list in arrays indexed by slot; nothing is allocated per change.
#pragma once

#include "scheduler/base/types.h"

#include <cstdint>
#include <vector>

namespace sched {

class ChangeLog {
 public:
  // A point in the log: the reader has visited everything before it. 0 is before the first change.
  using Position = std::uint64_t;

  // The node changed. O(1).
  void append(NodeSlot slot);

  [[nodiscard]] Position end() const { return end_; }

  // Calls visit(slot) for each node that changed after `position`, the latest change first.
  template <typename Visit>
  void since(Position position, Visit&& visit) const {
    for (NodeSlot slot = last_; slot != kNoSlot && entries_[slot].position > position;
         slot = entries_[slot].previous) {
      visit(slot);
    }
  }

 private:
  struct Entry {
    Position position = 0;  // of the node's latest change; 0: not in the log
    NodeSlot previous = kNoSlot;
    NodeSlot next = kNoSlot;
  };
  void unlink(NodeSlot slot);

  std::vector<Entry> entries_;
  NodeSlot last_ = kNoSlot;
  Position end_ = 0;
};

}  // namespace sched
