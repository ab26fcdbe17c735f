// Flags of recordings.
#include "scheduler/live/record/recording_flags.h"

#include "tests/support/catch.h"

#include <chrono>
#include <vector>

using sched::live::RecordingFlags;
using namespace std::chrono_literals;

TEST_CASE("sizes and ages of recordings") {
  const auto by_default = sched::live::flight_recording({});
  REQUIRE(by_default);
  CHECK_FALSE(*by_default);
  CHECK(sched::live::record_limit({}) == std::size_t{1} << 30U);

  const auto given =
      sched::live::flight_recording({.flight_recording = "8Mi", .flight_recording_age = "90m"});
  REQUIRE(given);
  REQUIRE(*given);
  CHECK((*given)->limits.bytes == 8U << 20U);
  CHECK((*given)->limits.age == 90min);
  const auto for_an_hour = sched::live::flight_recording({.flight_recording = "8Mi"});
  REQUIRE(for_an_hour);
  REQUIRE(*for_an_hour);
  CHECK((*for_an_hour)->limits.age == 1h);
  CHECK(sched::live::record_limit({.record_limit = "10k"}) == std::size_t{10'000});

  const auto none = sched::live::flight_recording({.flight_recording = "0"});
  REQUIRE(none);
  CHECK_FALSE(*none);
  CHECK(sched::live::record_limit({.record_limit = "0"}) == std::size_t{0});
}

TEST_CASE("what is no size or no age is refused in words") {
  struct Case {
    RecordingFlags flags;
    const char* want;
  };
  const std::vector<Case> cases = {
      {{.flight_recording = "much"}, "--flight-recording: \"much\" is no size"},
      {{.flight_recording = "-1Mi"}, "--flight-recording: \"-1Mi\" is no size"},
      {{.flight_recording = "1Mi"}, "at least 4Mi, or 0"},
      {{.flight_recording_age = "an hour"}, "--flight-recording-age: \"an hour\" is no time"},
      {{.flight_recording_age = "1s"}, "between 1m and 168h"},
      {{.flight_recording_age = "1000h"}, "between 1m and 168h"},
  };
  for (const Case& each : cases) {
    INFO(each.want);
    const auto read = sched::live::flight_recording(each.flags);
    REQUIRE_FALSE(read);
    CHECK_THAT(read.error().message, Catch::Contains(each.want));
  }
  const auto limit = sched::live::record_limit({.record_limit = "1Gib"});
  REQUIRE_FALSE(limit);
  CHECK_THAT(limit.error().message, Catch::Contains("--record-limit: \"1Gib\" is no size"));
}
