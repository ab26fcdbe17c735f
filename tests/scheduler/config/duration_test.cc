#include "scheduler/config/duration.h"

#include "tests/support/catch.h"

#include <string>

using namespace std::chrono_literals;
using sched::config::parse_duration;

TEST_CASE("durations as Go reads them") {
  struct Case {
    std::string text;
    std::chrono::nanoseconds want;
  };
  const Case cases[] = {{"15s", 15s},
                        {"1m30s", 90s},
                        {"2h", 2h},
                        {"500ms", 500ms},
                        {"1.5s", 1500ms},
                        {".5s", 500ms},
                        {"1.s", 1s},
                        {"0", 0s},
                        {"0s", 0s},
                        {"7us", 7us},
                        {"1h1m1s1ms1ns", 1h + 1min + 1s + 1ms + 1ns}};
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(parse_duration(c.text) == c.want);
  }
}

TEST_CASE("what is no duration") {
  for (const std::string text : {"", "15", "s", ".s", "-1s", "+1s", "15 s", "15S", "1d", "fifteen",
                                 "1s ", "1e3s", "9999999999h", "99999999999999999999s", "1.2.3s"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
  }
}
