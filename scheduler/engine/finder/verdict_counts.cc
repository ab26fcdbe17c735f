#include "scheduler/engine/finder/verdict_counts.h"

namespace sched {

VerdictCounts::Id VerdictCounts::add(const NodeVerdict& verdict) {
  const auto [found, is_new] = ids_.try_emplace(verdict);
  if (is_new) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<Id>(entries_.size()));
      entries_.emplace_back();
    }
    found->second = unused_.back();
    unused_.pop_back();
    entries_[found->second].verdict = verdict;
  }
  ++entries_[found->second].nodes;
  return found->second;
}

void VerdictCounts::remove(Id id) {
  if (--entries_[id].nodes > 0) return;
  ids_.erase(entries_[id].verdict);
  unused_.push_back(id);
}

std::size_t VerdictCounts::memory() const {
  // An entry of the map, and what holds it.
  constexpr std::size_t kId = sizeof(NodeVerdict) + sizeof(Id) + 32;
  return entries_.capacity() * sizeof(Entry) + unused_.capacity() * sizeof(Id) + ids_.size() * kId;
}

std::size_t VerdictCounts::Hash::operator()(const NodeVerdict& verdict) const {
  // There are few verdicts, most with few low bits: a multiplication spreads them well enough.
  constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  return (verdict.reasons * kOdd) ^ (verdict.filter * kOdd >> 7) ^
         static_cast<std::uint64_t>(verdict.code);
}

}  // namespace sched
