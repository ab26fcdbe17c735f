// Which nodes changed, in order, so that each reader visits only those that changed since its last
// visit.
//
// A node that changes again leaves its place and is at the end. So a reader visits each node at
// most once however often it changed. Places that were left are removed from time to time; the log
// never has more than about twice as many entries as there are slots. Readers go backwards through
// adjacent memory, which is what a processor does fastest.
#pragma once

#include "scheduler/base/types.h"

#include <cstdint>
#include <vector>

namespace sched {

class ChangeLog {
 public:
  // A point in the log: the reader has visited everything before it. 0 is before the first change.
  using Position = std::uint64_t;

  // The node changed. O(1) on average.
  void append(NodeSlot slot);

  [[nodiscard]] Position end() const { return end_; }

  // Calls visit(slot) for each node that changed after `position`, the latest change first. `visit`
  // changes no node.
  template <typename Visit>
  void since(Position position, Visit&& visit) const {
    for (auto entry = entries_.rbegin(); entry != entries_.rend() && entry->position > position;
         ++entry) {
      if (entry->slot != kNoSlot) visit(entry->slot);
    }
  }

 private:
  struct Entry {
    Position position = 0;
    NodeSlot slot = kNoSlot;  // kNoSlot: the node has changed again since
  };
  void remove_left();

  std::vector<Entry> entries_;           // by position
  std::vector<std::uint32_t> entry_of_;  // by slot: the index of its entry; kNone: none
  Position end_ = 0;
};

}  // namespace sched
