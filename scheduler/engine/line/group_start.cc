#include "scheduler/engine/line/group_start.h"

namespace sched {

void GroupStart::set_ready(const std::string& uid, bool ready) {
  leave(uid);
  is_ready_.emplace(uid, ready);
  if (!ready) ++unready_;
}

void GroupStart::leave(const std::string& uid) {
  const auto found = is_ready_.find(uid);
  if (found == is_ready_.end()) return;
  if (!found->second) --unready_;
  is_ready_.erase(found);
}

std::vector<std::string> GroupStart::pods() const {
  std::vector<std::string> uids;
  for (const auto& [uid, ready] : is_ready_) uids.push_back(uid);
  return uids;
}

}  // namespace sched
