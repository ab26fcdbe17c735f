// Steps by arrival, and by time.
#include "bench/replay/account/percent_steps.h"
#include "bench/replay/account/time_steps.h"
#include "tests/support/catch.h"

using bench::replay::Levels;
using bench::replay::LevelsOverTime;
using bench::replay::Moment;
using bench::replay::PercentSteps;
using bench::replay::Step;
using bench::replay::TimeSteps;

namespace {

Levels levels(std::int64_t asked, std::int64_t allocated, std::size_t arrivals = 0) {
  Levels all;
  all.capacity = 10'000;
  all.asked = asked;
  all.allocated = allocated;
  all.arrivals = arrivals;
  all.free_by_cause[0] = 10'000 - allocated;
  return all;
}

struct Row {
  double x;
  double allocated;
  std::size_t arrivals;
  friend bool operator==(const Row&, const Row&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.x << ' ' << row.allocated << ' ' << row.arrivals;
  }
};
std::vector<Row> rows(const std::vector<Step>& steps) {
  std::vector<Row> rows;
  for (const Step& step : steps) rows.push_back({step.x, step.allocated, step.arrivals});
  return rows;
}

}  // namespace

TEST_CASE("shares are averaged over the arrivals of a whole percent, or of its neighbours") {
  PercentSteps steps;
  steps.add(levels(100, 100, 1));    // 1 %
  steps.add(levels(149, 149, 2));    // 1.49 → 1 %
  steps.add(levels(300, 200, 3));    // 3 %
  steps.add(levels(350, 250, 4));    // 3.5 → 4 %
  steps.add(levels(1'000, 900, 5));  // 10 %
  CHECK(rows(steps.steps()) == std::vector<Row>{{1, 1.245, 2},
                                                {2, (1 + 1.49 + 2) / 3, 3},  // of 1 % and 3 %
                                                {3, 2, 3},
                                                {4, 2.5, 4},
                                                {5, 2.5, 4},  // of 4 %
                                                {9, 9, 5},    // of 10 %; none near 6, 7, 8
                                                {10, 9, 5}});
  CHECK(steps.steps().back().fragmented() == Approx(91));
  CHECK(PercentSteps().steps().empty());
}

TEST_CASE("a pod that asks for more than there will ever be costs no more steps than others") {
  PercentSteps steps;
  steps.add(levels(100, 100, 1));                      // 1 %
  steps.add(levels(100'000'000'000'000'000, 100, 2));  // 10^15 %
  CHECK(rows(steps.steps()) ==
        std::vector<Row>{{1, 1, 1}, {2, 1, 1}, {1e15 - 1, 1, 2}, {1e15, 1, 2}});
}

TEST_CASE("shares are averaged over slices of time") {
  TimeSteps steps(Moment(200 * 10));  // slices of 10 ms
  steps.add(levels(0, 0, 1), Moment(0), Moment(5));
  steps.add(levels(0, 10'000, 2), Moment(5), Moment(25));
  const auto all = steps.steps();
  REQUIRE(all.size() == 3);
  CHECK(all[0].allocated == Approx(50));
  CHECK(all[1].allocated == Approx(100));
  CHECK(all[2].allocated == Approx(100));  // of the half that has passed
  CHECK(all[1].x == Approx(15.0 / 3'600'000));
}

TEST_CASE("a run that goes on gets wider slices, not more of them") {
  TimeSteps steps(Moment(200));  // slices of 1 ms
  LevelsOverTime want;
  for (int i = 0; i < 3'000; ++i) {
    const Levels now = levels(0, (i * 37) % 10'000);
    steps.add(now, Moment(i), Moment(i + 1));
    want.add(now, Moment(1));
  }
  const auto all = steps.steps();
  CHECK(all.size() <= 400);
  double sum = 0;
  for (const Step& step : all) sum += step.allocated;
  // 3,000 ms in slices of 8 ms: none is cut off.
  CHECK(sum / static_cast<double>(all.size()) == Approx(want.average().allocated));
}
