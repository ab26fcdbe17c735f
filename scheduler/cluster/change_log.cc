#include "scheduler/cluster/change_log.h"

#include <cstddef>

namespace sched {

void ChangeLog::append(NodeSlot slot) {
  if (slot >= entries_.size()) entries_.resize(slot + std::size_t{1});
  if (entries_[slot].position != 0) unlink(slot);
  entries_[slot] = {.position = ++end_, .previous = last_, .next = kNoSlot};
  if (last_ != kNoSlot) entries_[last_].next = slot;
  last_ = slot;
}

void ChangeLog::unlink(NodeSlot slot) {
  const Entry entry = entries_[slot];
  if (entry.previous != kNoSlot) entries_[entry.previous].next = entry.next;
  if (entry.next != kNoSlot) {
    entries_[entry.next].previous = entry.previous;
  } else {
    last_ = entry.previous;
  }
}

}  // namespace sched
