#include "scheduler/live/leadership/bind_gate.h"

#include <algorithm>

namespace sched::live {

BindTimes bind_times(std::chrono::milliseconds lease_duration) {
  const BindTimes most;
  return {.deadline = std::min(most.deadline, lease_duration / 3),
          .margin = std::min(most.margin, lease_duration / 15)};
}

void BindGate::held_until(TimePoint valid_until) {
  if (!closed_) send_by_ = valid_until - times_.deadline - times_.margin;
}

void BindGate::close() {
  closed_ = true;
  send_by_ = TimePoint{};
}

}  // namespace sched::live
