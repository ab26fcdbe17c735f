// When pods that wait for a time are due: those that back off, and those that are tried anew.
#pragma once

#include "scheduler/queue/waiting_pod.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace sched {

class Timers {
 public:
  // The pod is due at `at`, which it remembers. It has no other time. O(log pods).
  void start(WaitingPod& pod, Time at) {
    pod.ready_at = at;
    pods_.emplace(std::pair{at, pod.order.arrival}, &pod);
  }
  void stop(const WaitingPod& pod) { pods_.erase({pod.ready_at, pod.order.arrival}); }

  // The pod that is due first; null: none is by `now`.
  [[nodiscard]] WaitingPod* due(Time now) const {
    if (pods_.empty() || pods_.begin()->first.first > now) return nullptr;
    return pods_.begin()->second;
  }
  // When one will be due; nullopt: never.
  [[nodiscard]] std::optional<Time> next() const {
    if (pods_.empty()) return std::nullopt;
    return pods_.begin()->first.first;
  }

 private:
  std::map<std::pair<Time, std::uint64_t>, WaitingPod*> pods_;
};

}  // namespace sched
