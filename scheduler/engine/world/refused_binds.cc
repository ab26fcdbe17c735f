#include "scheduler/engine/world/refused_binds.h"

#include <fmt/format.h>

#include <algorithm>

namespace sched {

void RefusedBinds::add(const std::string& node, const std::string& answer, Time now) {
  // The answer may be a long page of a webhook.
  constexpr std::size_t kMostText = 200;
  auto known = std::find_if(refusals_.begin(), refusals_.end(),
                            [&](const Refusal& refusal) { return refusal.node == node; });
  if (known == refusals_.end()) known = refusals_.insert(known, {.node = node, .answer = {}});
  ++known->times;
  known->last = now;
  known->answer = answer.substr(0, kMostText);
  if (known->times >= kTimes) {
    known->until = now + std::min(kLongest, std::chrono::minutes(known->times - kTimes + 1));
  }
}

void RefusedBinds::forget(Time now) {
  for (Refusal& refusal : refusals_) {
    if (refusal.until && *refusal.until <= now) refusal.until.reset();
  }
  std::erase_if(refusals_,
                [&](const Refusal& refusal) { return refusal.last + 2 * kLongest <= now; });
}

std::vector<std::string> RefusedBinds::left_out() const {
  std::vector<std::string> nodes;
  for (const Refusal& refusal : refusals_) {
    if (refusal.until) nodes.push_back(refusal.node);
  }
  return nodes;
}

std::optional<Time> RefusedBinds::next_end() const {
  std::optional<Time> first;
  for (const Refusal& refusal : refusals_) {
    if (refusal.until) first = std::min(first.value_or(*refusal.until), *refusal.until);
  }
  return first;
}

std::string RefusedBinds::text() const {
  const auto last = std::find_if(refusals_.rbegin(), refusals_.rend(),
                                 [](const Refusal& refusal) { return refusal.until.has_value(); });
  if (last == refusals_.rend()) return {};
  return fmt::format(
      "The pod could not be bound to node {} {} times, and the node is left out for it for {} "
      "seconds: {}",
      last->node, last->times,
      std::chrono::duration_cast<std::chrono::seconds>(*last->until - last->last).count(),
      last->answer);
}

}  // namespace sched
