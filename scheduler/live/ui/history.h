// Use and waiting of the last 24 hours: a sample a minute, in a ring of fixed size, in memory.
//
// The replica that leads keeps it. A new leader begins with none, and minutes in which nothing was
// sampled are missing.
#pragma once

#include "scheduler/answers/overview.h"
#include "scheduler/base/types.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace sched::live {

class History {
 public:
  static constexpr std::chrono::minutes kInterval{1};
  static constexpr std::size_t kMost = 24 * 60;

  struct Sample {
    Time at{};
    answers::Pieces gpus;
    answers::Pieces instances;
    answers::Pieces replicas;
    std::int64_t waiting_pods = 0;
    std::int64_t waiting_gpus = 0;
    friend bool operator==(const Sample&, const Sample&) = default;
  };

  // Adds a sample, and drops the oldest one if there are too many. Ignores a sample that is not
  // later than the last one.
  void add(const answers::Overview& overview, Time at);

  [[nodiscard]] const std::deque<Sample>& samples() const { return samples_; }

 private:
  std::deque<Sample> samples_;  // the oldest first
};

}  // namespace sched::live
