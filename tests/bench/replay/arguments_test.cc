#include "bench/replay/arguments.h"

#include "bench/policies/registry.h"
#include "tests/support/catch.h"

#include <limits>

using bench::replay::Moment;
using bench::replay::parse_duration;
using bench::replay::parse_seeds;

TEST_CASE("seeds are numbers and ranges") {
  using Seeds = std::vector<std::uint64_t>;
  CHECK(parse_seeds("42").value() == Seeds{42});
  CHECK(parse_seeds("42..45").value() == Seeds{42, 43, 44, 45});
  CHECK(parse_seeds("7..7").value() == Seeds{7});
  CHECK(parse_seeds("18446744073709551614..18446744073709551615").value() ==
        Seeds{18'446'744'073'709'551'614U, 18'446'744'073'709'551'615U});
  for (const char* text : {"", "x", "4x", "-1", "5..4", "5..", "..5", "1..20000", "1...3", "4.5"}) {
    INFO(text);
    const auto seeds = parse_seeds(text);
    REQUIRE_FALSE(seeds);
    CHECK_THAT(seeds.error().message, Catch::StartsWith("--seed "));
  }
}

TEST_CASE("durations have a unit") {
  CHECK(parse_duration("90s").value() == Moment(90'000));
  CHECK(parse_duration("30m").value() == Moment(1'800'000));
  CHECK(parse_duration("36h").value() == Moment(129'600'000));
  CHECK(parse_duration("7d").value() == Moment(604'800'000));
  CHECK(parse_duration("100000000000s").value() == Moment(100'000'000'000'000));
  for (const char* text :
       {"", "s", "90", "0s", "-5h", "1.5h", "5w", "99999999999d", "1157408d", "100000000001s"}) {
    INFO(text);
    CHECK_FALSE(parse_duration(text));
  }
}

TEST_CASE("moments that cannot come are no moments to draw a map at") {
  struct Case {
    const char* arrival;
    double moment;
    const char* complaint;  // null: fine, and the next thing that is wrong is told
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Case> cases = {
      {"inflate:130", 130, nullptr},
      {"inflate:130", 131, "--snapshots 131: expected a percentage from 0 to 130"},
      {"inflate:130", -1, "--snapshots -1: "},
      {"inflate:130", nan, "--snapshots nan: "},
      {"stationary:95", 100, nullptr},
      {"stationary:95", 100.5, "--snapshots 100.5: expected a percentage from 0 to 100"},
      {"backlog", 400, nullptr},
      {"backlog", std::numeric_limits<double>::infinity(), "--snapshots inf: "},
      {"trace", -5, "--snapshots -5: expected a percentage from 0 on"},
  };
  for (const Case& c : cases) {
    INFO(c.arrival << ' ' << c.moment);
    bench::replay::ReplayOptions options;
    options.arrival = c.arrival;
    options.snapshots = {c.moment};
    options.seeds = {"x"};
    const auto arguments = bench::replay::check(options, bench::registry());
    REQUIRE_FALSE(arguments);
    CHECK_THAT(arguments.error().message,
               Catch::StartsWith(c.complaint == nullptr ? "--seed x" : c.complaint));
  }
}
