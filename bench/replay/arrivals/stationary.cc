#include "bench/replay/arrivals/stationary.h"

#include "bench/replay/arrivals/lives.h"
#include "bench/replay/arrivals/random.h"

#include <fmt/core.h>

#include <cmath>

namespace bench::replay {
namespace {

void add(Workload& workload, const Stay& stay, Moment at) {
  workload.arrivals.push_back({.pod = stay.pod, .at = at, .leaves = at + stay.life});
}

// Pods that are present, until they hold `load` thousandths.
void populate(Workload& workload, const PodPool& pool, const Lives& lives, double load,
              Random& random) {
  double held = 0;
  while (held < load) {
    const Stay stay = lives.present(random);
    add(workload, stay, Moment(0));
    held += static_cast<double>(pool.milli(stay.pod));
  }
}

// A Poisson process of `rate` arrivals a millisecond until `ends`.
void stream(Workload& workload, const Lives& lives, double rate, double ends, Random& random) {
  for (double at = random.exponential() / rate; at < ends; at += random.exponential() / rate) {
    add(workload, lives.arriving(random), Moment(std::llround(std::floor(at))));
  }
}

Moment moment(double milliseconds) { return Moment(std::llround(milliseconds)); }

}  // namespace

k8s::Result<Workload> stationary(const Trace& trace, const PodPool& pool,
                                 const StationaryArrival& mode, std::uint64_t seed) {
  const auto lives = lives_of(trace, pool, mode.life);
  if (!lives) return tl::unexpected(lives.error());
  const double load = static_cast<double>(pool.capacity_milli) * mode.percent / 100;
  const double rate = load / (*lives)->mean_gpu_time();
  const double ends = (mode.warm_up_lives + mode.window_lives) * (*lives)->mean();
  const double expected = rate * (ends + (*lives)->mean());
  if (expected > kMostArrivals) {
    return k8s::config_error(fmt::format(
        "a load of {} % of trace \"{}\" is a stream of {:.0f} million pods over {} mean "
        "lives, since few of its pods hold GPUs for long: lower the load",
        mode.percent, trace.name, expected / 1e6, mode.warm_up_lives + mode.window_lives));
  }
  Workload workload;
  workload.arrivals.reserve(static_cast<std::size_t>(expected * 1.1));
  workload.measure_from = moment(mode.warm_up_lives * (*lives)->mean());
  workload.ends = moment(ends);
  Random random(seed);
  populate(workload, pool, **lives, load, random);
  stream(workload, **lives, rate, ends, random);
  return workload;
}

}  // namespace bench::replay
