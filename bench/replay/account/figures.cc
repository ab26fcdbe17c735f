#include "bench/replay/account/figures.h"

#include "bench/replay/account/levels.h"
#include "bench/replay/account/waits.h"
#include "scheduler/gpu/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace bench::replay {
namespace {

// Arrivals, in percent of the GPUs, at which the unallocated share is a figure.
constexpr std::array<int, 4> kArrivals{95, 100, 110, 120};

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

const std::vector<Figure>& all_figures() {
  static const std::vector<Figure> kFigures{
      {"unallocated", "%", "GPU not allocated"},
      {"allocated", "%", "GPU allocated"},
      {"fragmented", "%", "GPU free and of no use to the typical pods"},
      {"fragmented_of_free", "%", "the same, of the free GPU"},
      {"refused", "%", "GPU turned away, of the GPU asked for"},
      {"waiting", "%", "GPU that waits at the end, of the GPU asked for"},
      {"arrived", "%", "GPU asked for, of the cluster's GPUs"},
      {"arrived_pods", "", "pods that came"},
      {"placed_pods", "", "pods that got a node"},
      {"refused_pods", "", "pods turned away"},
      {"waiting_pods", "", "pods that wait at the end"},
      {"gpu_hours_waited", "GPU·h", "GPUs that pods waited for, times how long"},
      {"gpu_waiting", "%", "the same on average, of the cluster's GPUs"},
      {"wait_mean", "s", "from coming to being placed, or to the end, mean"},
      {"wait_p50", "s", "the same, median"},
      {"wait_p99", "s", "the same, 99 of 100 wait no longer"},
      {"wait_max", "s", "the same, longest"},
      {"hours", "h", "how long the measured time is"},
      {"gpus", "", "GPUs of the cluster"},
      {"moved_pods", "", "recordings: pods placed on another node than recorded"},
      {"gained_pods", "", "recordings: pods placed that were not"},
      {"lost_pods", "", "recordings: pods not placed that were"},
      {"unallocated_at_95", "%", "GPU not allocated when 95 % had arrived"},
      {"unallocated_at_100", "%", "GPU not allocated when 100 % had arrived"},
      {"unallocated_at_110", "%", "GPU not allocated when 110 % had arrived"},
      {"unallocated_at_120", "%", "GPU not allocated when 120 % had arrived"},
  };
  return kFigures;
}

bool is_figure(std::string_view name) {
  return std::any_of(all_figures().begin(), all_figures().end(),
                     [&](const Figure& figure) { return figure.name == name; });
}

std::map<std::string, double> figures_of(const Outcome& outcome, const std::vector<double>& waits,
                                         const std::vector<Step>& steps) {
  const Step& levels = outcome.levels;
  const double unallocated = 100 - levels.allocated;
  std::map<std::string, double> figures{
      {"unallocated", unallocated},
      {"allocated", levels.allocated},
      {"fragmented", levels.fragmented()},
      {"fragmented_of_free", percent(levels.fragmented(), unallocated)},
      {"refused", percent(outcome.refused, outcome.asked)},
      {"waiting", percent(outcome.waiting, outcome.asked)},
      {"arrived", percent(outcome.asked, outcome.capacity)},
      {"arrived_pods", static_cast<double>(outcome.arrived_pods)},
      {"placed_pods", static_cast<double>(outcome.placed_pods)},
      {"refused_pods", static_cast<double>(outcome.refused_pods)},
      {"waiting_pods", static_cast<double>(outcome.waiting_pods)},
      {"wait_mean", mean(waits)},
      {"wait_p50", quantile(waits, 0.50)},
      {"wait_p99", quantile(waits, 0.99)},
      {"wait_max", waits.empty() ? 0 : waits.back()},
      {"gpus", static_cast<double>(outcome.capacity) / sched::gpu::kMilliPerGpu},
  };
  if (outcome.time) {
    figures["hours"] = outcome.time->hours;
    figures["gpu_hours_waited"] = outcome.time->gpu_hours_waited;
    figures["gpu_waiting"] = percent(outcome.time->gpu_hours_waited, outcome.time->gpu_hours);
  }
  for (const Step& step : steps) {
    const auto x = static_cast<int>(std::lround(step.x));
    if (std::find(kArrivals.begin(), kArrivals.end(), x) == kArrivals.end()) continue;
    figures[fmt::format("unallocated_at_{}", x)] = 100 - step.allocated;
  }
  return figures;
}

}  // namespace bench::replay
