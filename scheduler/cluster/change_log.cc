#include "scheduler/cluster/change_log.h"

#include <cstddef>

namespace sched {

namespace {

constexpr std::uint32_t kNone = 0xffff'ffff;

}  // namespace

void ChangeLog::append(NodeSlot slot) {
  if (slot >= entry_of_.size()) entry_of_.resize(slot + std::size_t{1}, kNone);
  ++end_;
  std::uint32_t& entry = entry_of_[slot];
  if (entry != kNone && entry + std::size_t{1} == entries_.size()) {
    entries_.back().position = end_;
    return;
  }
  if (entry != kNone) entries_[entry].slot = kNoSlot;
  entry = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({.position = end_, .slot = slot});
  constexpr std::size_t kFew = 64;
  if (entries_.size() > 2 * entry_of_.size() + kFew) remove_left();
}

void ChangeLog::remove_left() {
  std::erase_if(entries_, [](const Entry& entry) { return entry.slot == kNoSlot; });
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entry_of_[entries_[i].slot] = static_cast<std::uint32_t>(i);
  }
}

}  // namespace sched
