#include "bench/replay/account/time_steps.h"

#include "scheduler/gpu/devices.h"

#include <algorithm>
#include <cmath>

namespace bench::replay {
namespace {

double hours_of(double milliseconds) { return milliseconds / 3'600'000; }
double gpu_hours_of(double milli_gpu_milliseconds) {
  return hours_of(milli_gpu_milliseconds / static_cast<double>(sched::gpu::kMilliPerGpu));
}

}  // namespace

void LevelsOverTime::add(const Levels& levels, Moment duration) {
  const auto ms = static_cast<double>(duration.count());
  const auto weight = static_cast<double>(levels.weight);
  milliseconds += ms;
  capacity += static_cast<double>(levels.capacity) * ms;
  allocated += static_cast<double>(levels.allocated) * ms;
  waiting += static_cast<double>(levels.waiting) * ms;
  waiting_gpu += static_cast<double>(levels.waiting_gpu) * ms;
  for (std::size_t i = 0; i < kCauses; ++i) {
    free_by_cause[i] += static_cast<double>(levels.free_by_cause[i]) / weight * ms;
  }
}

void LevelsOverTime::add(const LevelsOverTime& other) {
  milliseconds += other.milliseconds;
  capacity += other.capacity;
  allocated += other.allocated;
  waiting += other.waiting;
  waiting_gpu += other.waiting_gpu;
  for (std::size_t i = 0; i < kCauses; ++i) free_by_cause[i] += other.free_by_cause[i];
}

Step LevelsOverTime::average() const {
  Step step;
  step.allocated = percent(allocated, capacity);
  if (milliseconds > 0)
    step.waiting = static_cast<std::size_t>(std::lround(waiting / milliseconds));
  for (std::size_t i = 0; i < kCauses; ++i) {
    step.free_by_cause[i] = percent(free_by_cause[i], capacity);
  }
  return step;
}

double LevelsOverTime::hours() const { return hours_of(milliseconds); }
double LevelsOverTime::gpu_hours() const { return gpu_hours_of(capacity); }
double LevelsOverTime::gpu_hours_waited() const { return gpu_hours_of(waiting_gpu); }

TimeSteps::TimeSteps(Moment horizon) : width_(std::max(horizon / kSlices, Moment{1})) {}

void TimeSteps::add(const Levels& levels, Moment from, Moment to) {
  while (from < to) {
    const auto index = from / width_;
    if (index >= 2 * kSlices) {
      merge();
      continue;
    }
    const auto needed = static_cast<std::size_t>(index) + 1;
    if (needed > slices_.size()) slices_.resize(needed);
    const Moment until = std::min(to, width_ * (index + 1));
    Slice& slice = slices_.back();
    slice.sum.add(levels, until - from);
    slice.arrivals = levels.arrivals;
    slice.refused = percent(levels.refused, levels.asked);
    from = until;
  }
}

void TimeSteps::merge() {
  std::vector<Slice> merged((slices_.size() + 1) / 2);
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    Slice& into = merged[i / 2];
    into.sum.add(slices_[i].sum);
    into.arrivals = slices_[i].arrivals;
    into.refused = slices_[i].refused;
  }
  slices_ = std::move(merged);
  width_ *= 2;
}

std::vector<Step> TimeSteps::steps() const {
  constexpr double kHour = 3'600'000;
  std::vector<Step> steps;
  steps.reserve(slices_.size());
  for (const Slice& slice : slices_) {
    Step step = slice.sum.average();
    // The middle of the slice.
    step.x =
        (static_cast<double>(steps.size()) + 0.5) * static_cast<double>(width_.count()) / kHour;
    step.arrivals = slice.arrivals;
    step.refused = slice.refused;
    steps.push_back(step);
  }
  return steps;
}

}  // namespace bench::replay
