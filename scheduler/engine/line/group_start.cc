#include "scheduler/engine/line/group_start.h"

namespace sched {

void GroupStart::set_ready(const std::string& uid, bool ready) {
  leave(uid);
  is_ready_.emplace(uid, ready);
  if (!ready) ++unready_;
}

void GroupStart::failed(const std::string& uid) {
  failed_.insert(uid);
  gone(uid);
}

void GroupStart::gone(const std::string& uid) {
  const bool followed = follows(uid);
  leave(uid);
  if (followed) return;
  const std::set<std::string> followers = followers_;
  for (const std::string& each : followers) {
    if (!has_failed(each)) set_ready(each, false);
  }
}

void GroupStart::leave(const std::string& uid) {
  followers_.erase(uid);
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
