// A steady stream is checked by what holds of it on average: fixed seeds, bounds of several
// standard deviations.
#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/arrivals/pod_pool.h"
#include "tests/bench/replay/arrivals/small_trace.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <set>

namespace bench::replay {
namespace {

constexpr Moment kMeanLife = std::chrono::hours(1);

Workload steady(const Trace& trace, double percent, const Life& life, std::uint64_t seed) {
  const auto workload = arrange(trace, StationaryArrival{.percent = percent, .life = life}, seed);
  REQUIRE(workload);
  return *workload;
}

// The share of the GPUs that the pods would hold if all of them found room, on average from `from`
// to `to`, in percent.
double load_of(const Trace& trace, const Workload& workload, Moment from, Moment to) {
  const auto pool = pool_of(trace);
  REQUIRE(pool);
  double held = 0;
  for (const Arrival& one : workload.arrivals) {
    const Moment begin = std::max(one.at, from);
    const Moment end = std::min(*one.leaves, to);
    if (end > begin) {
      held += static_cast<double>((end - begin).count() * pool->milli(one.pod));
    }
  }
  return 100 * held /
         (static_cast<double>((to - from).count()) * static_cast<double>(pool->capacity_milli));
}

struct KindOfLife {
  std::string name;
  Life life;
  double tolerance;  // percent: at least three standard deviations of the mean load measured below
};

// A sum of n products of GPUs (variance 2.8 of a mean of 1) and lives has a relative deviation of
// √(3.8 · E[life²] / n); n is 215,000 below.
const std::vector<KindOfLife>& lives() {
  static const std::vector<KindOfLife> all = {
      {"exponential", {.kind = Life::Kind::kExponential}, 2},
      {"log-normal, narrow", {.kind = Life::Kind::kLogNormal, .sigma = 0.5}, 2},
      {"log-normal, wide", {.kind = Life::Kind::kLogNormal, .sigma = 2}, 9},
      {"as in the trace", {.kind = Life::Kind::kTrace}, 2}};
  return all;
}

TEST_CASE("a stream has the load that was asked for, from its start to its end") {
  const Trace trace = small_trace(200, 400);
  for (const auto& [name, life, tolerance] : lives()) {
    DYNAMIC_SECTION(name) {
      double whole = 0;
      double start = 0;
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const Workload workload = steady(trace, 95, life, seed);
        const Moment ends = *workload.ends;
        CHECK(workload.measure_from * 5 == ends);  // 6 lives of 30
        whole += load_of(trace, workload, workload.measure_from, ends) / 8;
        start += load_of(trace, workload, Moment(0), ends / 60) / 8;
      }
      CHECK(whole > 95 - tolerance);
      CHECK(whole < 95 + tolerance);
      // A start from an empty cluster, or with whole lives instead of the rest of them, is off by
      // far more.
      CHECK(start > 92);
      CHECK(start < 98);
    }
  }
}

TEST_CASE("arrivals are in order, after a population that is there at once") {
  const Trace trace = small_trace(50, 100);
  for (const auto& [name, life, tolerance] : lives()) {
    DYNAMIC_SECTION(name) {
      const Workload workload = steady(trace, 105, life, 3);
      const auto& all = workload.arrivals;
      CHECK(std::is_sorted(all.begin(), all.end(),
                           [](const Arrival& a, const Arrival& b) { return a.at < b.at; }));
      CHECK(std::all_of(all.begin(), all.end(),
                        [](const Arrival& one) { return one.leaves && *one.leaves > one.at; }));
      CHECK(all.back().at < *workload.ends);
      const auto there = std::count_if(all.begin(), all.end(),
                                       [](const Arrival& one) { return one.at == Moment(0); });
      CHECK(there > 250);  // 105 % of 400 GPUs at 1.36 a pod is 309
    }
  }
}

TEST_CASE("the arrivals are a Poisson process") {
  const Trace trace = small_trace(200, 400);
  const Workload workload = steady(trace, 95, {.kind = Life::Kind::kExponential}, 5);
  // 95 % of 1,600 GPUs at 1.36 each: 1,118 a life. In slices of a fiftieth of one, 22.35 on
  // average, and as much variance.
  const Moment slice = kMeanLife / 50;
  std::vector<double> counts(static_cast<std::size_t>(*workload.ends / slice), 0);
  for (const Arrival& one : workload.arrivals) {
    if (one.at > Moment(0)) counts[static_cast<std::size_t>(one.at / slice)] += 1;
  }
  REQUIRE(counts.size() == 1'500);
  double mean = 0;
  for (const double count : counts) mean += count / 1'500;
  double variance = 0;
  for (const double count : counts) variance += (count - mean) * (count - mean) / 1'500;
  CHECK(mean > 21.7);
  CHECK(mean < 23.0);
  CHECK(variance / mean > 0.85);
  CHECK(variance / mean < 1.15);
}

TEST_CASE("lives have their mean and their spread") {
  const Trace trace = small_trace(200, 400);
  struct Case {
    std::string name;
    Life life;
    double median;  // in mean lives: ln 2, exp(−σ²/2)
  };
  const std::vector<Case> cases = {
      {"exponential", {.kind = Life::Kind::kExponential}, 0.693},
      {"log-normal", {.kind = Life::Kind::kLogNormal, .sigma = 1}, 0.607}};
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      std::vector<double> found;
      for (const Arrival& one : steady(trace, 95, c.life, 11).arrivals) {
        if (one.at == Moment(0)) continue;
        found.push_back(std::chrono::duration<double>(*one.leaves - one.at) / kMeanLife);
      }
      double mean = 0;
      for (const double life : found) mean += life / static_cast<double>(found.size());
      CHECK(mean > 0.96);
      CHECK(mean < 1.04);
      const auto middle = found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2);
      std::nth_element(found.begin(), middle, found.end());
      CHECK(*middle / c.median > 0.96);
      CHECK(*middle / c.median < 1.04);
    }
  }
}

TEST_CASE("a seed gives one workload") {
  const Trace trace = small_trace(10, 50);
  const auto times = [&](std::uint64_t seed) {
    std::vector<std::pair<std::size_t, std::int64_t>> all;
    for (const Arrival& one : steady(trace, 95, {.kind = Life::Kind::kLogNormal}, seed).arrivals) {
      all.emplace_back(one.pod, one.leaves->count());
    }
    return all;
  };
  CHECK(times(1) == times(1));
  CHECK(times(1) != times(2));
}

TEST_CASE("pods whose life is not known live as others do") {
  Trace trace;
  trace.name = "one life known";
  trace.nodes = {tests::node("n").gpus(8)};
  trace.pods = {lived(asks("known", 1), Moment(0), Moment(60'000)),
                lived(asks("open", 1), Moment(0), std::nullopt)};
  const Workload workload = steady(trace, 95, {.kind = Life::Kind::kTrace}, 1);
  CHECK(*workload.ends == 30 * std::chrono::minutes(1));
  std::set<std::size_t> later;
  for (const Arrival& one : workload.arrivals) {
    if (one.at == Moment(0)) continue;
    later.insert(one.pod);
    REQUIRE(one.leaves);
    CHECK(*one.leaves - one.at == std::chrono::minutes(1));
  }
  CHECK(later == std::set<std::size_t>{0, 1});
}

TEST_CASE("streams that cannot be had are refused") {
  Trace trace = small_trace(4, 10);
  for (TracePod& pod : trace.pods) pod.deleted.reset();
  StationaryArrival mode{.percent = 95, .life = {.kind = Life::Kind::kTrace}};
  const auto lifeless = arrange(trace, mode, 1);
  REQUIRE_FALSE(lifeless);
  CHECK(lifeless.error().message ==
        "no pod of trace \"small\" has both a creation and a deletion time: choose exponential or "
        "lognormal lives");

  // One pod in three asks for a thousandth of one of 8,000 GPUs.
  Trace rare = small_trace(1'000, 2);
  rare.pods.push_back(lived(asks_milli("rare", "1"), Moment(0), Moment(1)));
  mode.life.kind = Life::Kind::kExponential;
  const auto endless = arrange(rare, mode, 1);
  REQUIRE_FALSE(endless);
  CHECK(endless.error().message.find("lower the load") != std::string::npos);
}

}  // namespace
}  // namespace bench::replay
