#include "scheduler/engine/notices/misnamed_schedulers.h"

#include <utility>

namespace sched {

void MisnamedSchedulers::seen(decision::MisnamedScheduler pod) {
  const auto [known, is_new] = pods_.try_emplace(pod.pod.uid, numbers_ + 1);
  if (!is_new) return;
  to_tell_.emplace(++numbers_, std::move(pod));
}

void MisnamedSchedulers::gone(const std::string& uid) {
  if (pods_.empty()) return;
  const auto known = pods_.find(uid);
  if (known == pods_.end()) return;
  to_tell_.erase(known->second);
  pods_.erase(known);
}

std::optional<decision::MisnamedScheduler> MisnamedSchedulers::next() {
  if (to_tell_.empty()) return std::nullopt;
  decision::MisnamedScheduler pod = std::move(to_tell_.begin()->second);
  to_tell_.erase(to_tell_.begin());
  return pod;
}

}  // namespace sched
