#include "scheduler/engine/finder/buckets.h"

namespace sched {

void Buckets::grow(std::size_t slots) {
  slots_ = slots;
  if (!of_.empty()) of_.resize(slots);
}

Buckets::Id Buckets::add(NodeSlot slot, const Key& key) {
  Id id = of(slot);
  if (id >= buckets_.size() || buckets_[id].nodes == 0 || !(buckets_[id].key == key)) {
    const auto [found, is_new] = ids_.try_emplace(key);
    if (is_new && unused_.empty()) {
      found->second = static_cast<Id>(buckets_.size());
      buckets_.push_back({.key = key});
    } else if (is_new) {
      found->second = unused_.back();
      unused_.pop_back();
      buckets_[found->second].key = key;
    }
    id = found->second;
  }
  ++buckets_[id].nodes;
  ++nodes_;
  if (id == 0 && of_.empty()) return id;
  if (of_.empty()) of_.resize(slots_);
  of_[slot] = id;
  return id;
}

void Buckets::remove(NodeSlot slot) {
  const Id id = of(slot);
  --nodes_;
  if (--buckets_[id].nodes > 0) return;
  ids_.erase(buckets_[id].key);
  unused_.push_back(id);
}

std::size_t Buckets::memory() const {
  // A bucket, its entry in the map, and what holds them together.
  constexpr std::size_t kBucket = 2 * sizeof(Key) + 64;
  return of_.capacity() * sizeof(Id) + buckets_.size() * kBucket;
}

}  // namespace sched
