// Limits how often a waiting entity gets a new message, if the reason changes again and again.
//
// Each message is a line of the log, and a write to the pod. One change of an object may change the
// messages of all pods that wait for it, and a tenant may change it many times a second. So there
// are kAtOnce messages at once, and then one every kEach: the newest.
#pragma once

#include "scheduler/base/types.h"

#include <algorithm>
#include <chrono>

namespace sched {

class MessageBudget {
 public:
  static constexpr int kAtOnce = 10;
  static constexpr std::chrono::seconds kEach{30};

  // Takes a message; false: none is left before next().
  [[nodiscard]] bool take(Time now) {
    const Time full_at = std::max(full_at_, now) + kEach;
    if (full_at > now + kAtOnce * kEach) return false;
    full_at_ = full_at;
    return true;
  }
  // When the next message is available; may be in the past.
  [[nodiscard]] Time next() const { return full_at_ - (kAtOnce - 1) * kEach; }

 private:
  Time full_at_{};  // when kAtOnce messages are available again
};

}  // namespace sched
