#include "scheduler/live/questions/budget.h"

#include <algorithm>

namespace sched::live {

std::optional<Budget::Clock::duration> Budget::take(const std::string& account,
                                                    Clock::time_point now) {
  auto known = full_at_.find(account);
  const auto full_at = known == full_at_.end() ? now : std::max(known->second, now);
  const auto then_full_at = full_at + limits_.each;
  const auto over = then_full_at - now - limits_.at_once * limits_.each;
  if (over > Clock::duration::zero()) return over;
  if (known != full_at_.end()) {
    known->second = then_full_at;
    return std::nullopt;
  }
  if (full_at_.size() >= limits_.accounts) make_room(now);
  full_at_.emplace(account, then_full_at);
  return std::nullopt;
}

void Budget::make_room(Clock::time_point now) {
  std::erase_if(full_at_, [now](const auto& known) { return known.second <= now; });
  if (full_at_.size() < limits_.accounts) return;
  full_at_.erase(
      std::min_element(full_at_.begin(), full_at_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; }));
}

}  // namespace sched::live
