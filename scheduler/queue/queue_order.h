// Whose turn it is: the pod of higher priority, then the older one, then the one seen first.
#pragma once

#include "scheduler/base/types.h"

#include <cstdint>
#include <tuple>

namespace sched {

struct QueueOrder {
  std::int32_t priority = 0;
  Time created{};
  std::uint64_t arrival = 0;  // different for all pods, so the order is total

  // Less means earlier turn.
  friend bool operator<(const QueueOrder& a, const QueueOrder& b) {
    return std::tie(b.priority, a.created, a.arrival) < std::tie(a.priority, b.created, b.arrival);
  }
  friend bool operator==(const QueueOrder&, const QueueOrder&) = default;
};

}  // namespace sched
