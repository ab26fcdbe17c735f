#include "bench/replay/arguments.h"

#include "tests/support/catch.h"

using bench::replay::Moment;
using bench::replay::parse_duration;
using bench::replay::parse_seeds;

TEST_CASE("seeds are numbers and ranges") {
  using Seeds = std::vector<std::uint64_t>;
  CHECK(parse_seeds("42").value() == Seeds{42});
  CHECK(parse_seeds("42..45").value() == Seeds{42, 43, 44, 45});
  CHECK(parse_seeds("7..7").value() == Seeds{7});
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
  for (const char* text : {"", "s", "90", "0s", "-5h", "1.5h", "5w", "99999999999d"}) {
    INFO(text);
    CHECK_FALSE(parse_duration(text));
  }
}
