#include "bench/replay/account/percent_steps.h"

#include <cmath>

namespace bench::replay {
namespace {

Step shares_of(const Levels& levels) {
  Step step{.arrivals = levels.arrivals,
            .allocated = percent(levels.allocated, levels.capacity),
            .refused = percent(levels.refused, levels.asked),
            .waiting = levels.waiting};
  for (std::size_t i = 0; i < kCauses; ++i) {
    step.free_by_cause[i] = percent(levels.free_by_cause[i], levels.capacity * levels.weight);
  }
  return step;
}

}  // namespace

void PercentSteps::Sums::add(const Sums& other) {
  count += other.count;
  sum.arrivals = other.sum.arrivals;
  sum.waiting = other.sum.waiting;
  sum.allocated += other.sum.allocated;
  sum.refused += other.sum.refused;
  for (std::size_t i = 0; i < kCauses; ++i) sum.free_by_cause[i] += other.sum.free_by_cause[i];
}

void PercentSteps::add(const Levels& levels) {
  const auto x = std::lround(percent(levels.asked, levels.capacity));
  by_percent_[x].add({.count = 1, .sum = shares_of(levels)});
}

// One pod may ask for any number of GPUs: percents without arrivals are skipped.
std::vector<std::int64_t> PercentSteps::percents() const {
  std::vector<std::int64_t> percents;
  for (const auto& [x, sums] : by_percent_) {
    for (std::int64_t near = x - 1; near <= x + 1; ++near) {
      const bool within = by_percent_.begin()->first <= near && near <= by_percent_.rbegin()->first;
      if (within && (percents.empty() || percents.back() < near)) percents.push_back(near);
    }
  }
  return percents;
}

std::vector<Step> PercentSteps::steps() const {
  std::vector<Step> steps;
  for (const std::int64_t x : percents()) {
    Sums sums;
    const auto add = [&](std::int64_t at) {
      if (const auto found = by_percent_.find(at); found != by_percent_.end()) {
        sums.add(found->second);
      }
    };
    add(x);
    if (sums.count == 0) {
      add(x - 1);
      add(x + 1);
    }
    Step step = sums.sum;
    const auto count = static_cast<double>(sums.count);
    step.x = static_cast<double>(x);
    step.allocated /= count;
    step.refused /= count;
    for (double& share : step.free_by_cause) share /= count;
    steps.push_back(step);
  }
  return steps;
}

}  // namespace bench::replay
