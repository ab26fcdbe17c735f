#include "scheduler/quota/class_set.h"

namespace sched::quota {

ClassSetId ClassSets::intern(std::vector<ChargeClassId> classes) {
  const auto known = ids_.find(classes);
  if (known != ids_.end()) return known->second;
  std::vector<bool> members(classes.empty() ? 1 : classes.back() + std::size_t{1});
  members[kNoGpuClass] = true;
  for (const ChargeClassId id : classes) members[id] = true;
  const auto set = static_cast<ClassSetId>(members_.size());
  members_.push_back(std::move(members));
  ids_.emplace(std::move(classes), set);
  return set;
}

bool ClassSets::contains(ClassSetId set, ChargeClassId id) const {
  if (set == kEveryClass) return true;
  const std::vector<bool>& members = members_[static_cast<std::size_t>(set)];
  return id < members.size() && members[id];
}

}  // namespace sched::quota
