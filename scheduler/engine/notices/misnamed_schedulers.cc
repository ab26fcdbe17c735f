#include "scheduler/engine/notices/misnamed_schedulers.h"

#include <utility>

namespace sched {

void MisnamedSchedulers::seen(decision::MisnamedScheduler pod) {
  const auto [known, is_new] = numbers_.try_emplace(pod.pod.uid, last_ + 1);
  if (!is_new) return;
  pods_.emplace(++last_, std::move(pod));
}

void MisnamedSchedulers::gone(const std::string& uid) {
  if (numbers_.empty()) return;
  const auto known = numbers_.find(uid);
  if (known == numbers_.end()) return;
  pods_.erase(known->second);
  numbers_.erase(known);
}

std::optional<decision::MisnamedScheduler> MisnamedSchedulers::next() {
  const auto pod = pods_.upper_bound(reported_);
  if (pod == pods_.end()) return std::nullopt;
  reported_ = pod->first;
  return pod->second;
}

std::vector<decision::MisnamedScheduler> MisnamedSchedulers::in(std::string_view namespace_) const {
  std::vector<decision::MisnamedScheduler> found;
  for (const auto& [number, one] : pods_) {
    if (namespace_.empty() || one.pod.namespace_ == namespace_) found.push_back(one);
  }
  return found;
}

}  // namespace sched
