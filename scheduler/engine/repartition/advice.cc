#include "scheduler/engine/repartition/advice.h"

#include <algorithm>
#include <utility>

namespace sched {

std::optional<Time> RepartitionAdvice::due(const Input& input) const {
  if (!to_tell_.empty()) return Time{};
  if (!pods_wait_ || looked_at_ == input) return std::nullopt;
  return next_look_;
}

void RepartitionAdvice::found(std::vector<decision::MigRepartition> advice, bool pods_wait,
                              const Input& input, Time now) {
  to_tell_.clear();
  for (const decision::MigRepartition& each : advice) {
    if (std::find(advice_.begin(), advice_.end(), each) == advice_.end()) to_tell_.push_back(each);
  }
  advice_ = std::move(advice);
  pods_wait_ = pods_wait;
  looked_at_ = input;
  next_look_ = now + interval_;
}

std::optional<decision::MigRepartition> RepartitionAdvice::next() {
  if (to_tell_.empty()) return std::nullopt;
  decision::MigRepartition advice = std::move(to_tell_.front());
  to_tell_.pop_front();
  return advice;
}

std::size_t RepartitionAdvice::pods() const {
  std::size_t sum = 0;
  for (const decision::MigRepartition& each : advice_) sum += each.pods.size();
  return sum;
}

}  // namespace sched
