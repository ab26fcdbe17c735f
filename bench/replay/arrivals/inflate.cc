#include "bench/replay/arrivals/inflate.h"

#include "bench/replay/arrivals/random.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>
#include <vector>

namespace bench::replay {
namespace {

using Pods = std::vector<std::size_t>;

void append_draws(Pods& order, const PodPool& pool, std::int64_t limit, Random& random) {
  std::int64_t total = pool.milli(order);
  while (total < limit) {
    const std::size_t pod = pool.pods[random.below(pool.pods.size())];
    // Of one device, not of all: the artefact's rule. So the last pod may lead beyond the limit.
    if (total + pool.demands[pod].milli > limit) return;
    order.push_back(pod);
    total += pool.milli(pod);
  }
}

// Keeps the order of the pods that stay.
void remove_draws(Pods& order, const PodPool& pool, std::int64_t limit, Random& random) {
  Pods places(order.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  random.shuffle(places);
  std::vector<bool> removed(order.size(), false);
  std::int64_t total = pool.milli(order);
  for (const std::size_t place : places) {
    if (total <= limit) break;
    removed[place] = true;
    total -= pool.milli(order[place]);
  }
  Pods kept;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!removed[i]) kept.push_back(order[i]);
  }
  order = std::move(kept);
}

// How many draws with replacement ask for so much, on average.
double expected_draws(const PodPool& pool, double milli) {
  return milli / static_cast<double>(pool.milli(pool.pods)) * static_cast<double>(pool.pods.size());
}

}  // namespace

k8s::Result<Workload> inflate(const Trace& trace, const PodPool& pool, const InflateArrival& mode,
                              std::uint64_t seed) {
  const double exact = static_cast<double>(pool.capacity_milli) * mode.percent / 100;
  if (const double expected = expected_draws(pool, exact); expected > kMostArrivals) {
    return k8s::config_error(
        fmt::format("{} % of the GPUs of trace \"{}\" are asked for by {:.0f} million of its pods, "
                    "since few of "
                    "them ask for GPUs: lower the percentage",
                    mode.percent, trace.name, expected / 1e6));
  }
  const auto limit = static_cast<std::int64_t>(std::floor(exact));
  Random random(seed);
  Pods order = pool.pods;
  random.shuffle(order);
  if (pool.milli(order) > limit) {
    remove_draws(order, pool, limit, random);
  } else {
    append_draws(order, pool, limit, random);
  }
  Workload workload;
  workload.arrivals.reserve(order.size());
  Moment at{0};
  for (const std::size_t pod : order) {
    workload.arrivals.push_back({.pod = pod, .at = at, .leaves = std::nullopt});
    at += std::chrono::seconds(1);
  }
  return workload;
}

}  // namespace bench::replay
