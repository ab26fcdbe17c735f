#include "k8s-client/api/decode/rfc3339.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s::json {
namespace {

TEST_CASE("Times are read whatever their offset and fraction", "[time]") {
  struct Case {
    std::string given;
    std::string want;  // empty: not a time
  };
  const std::vector<Case> cases = {
      {"2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05.000001Z", "2026-01-02T03:04:05.000001Z"},
      {"2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123456Z"},
      {"2026-01-02T03:04:05.5Z", "2026-01-02T03:04:05.500000Z"},
      {"2026-01-02T03:04:05,5Z", "2026-01-02T03:04:05.500000Z"},
      {"2026-01-02T03:04:05+02:30", "2026-01-02T00:34:05Z"},
      {"2026-01-01T00:00:00-00:01", "2026-01-01T00:01:00Z"},
      {"2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"},
      {"1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"},
      {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
      {"0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"},
      {"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"},
      {"2023-02-29T00:00:00Z", ""},
      {"2026-13-01T00:00:00Z", ""},
      {"2026-01-02T24:00:00Z", ""},
      {"2026-01-02T00:60:00Z", ""},
      {"2026-01-02T00:00:60Z", ""},
      {"2026-01-02T00:00:00+23:59", "2026-01-01T00:01:00Z"},
      {"2026-01-02T00:00:00+24:00", ""},
      {"2026-01-02T00:00:00-24:00", ""},
      {"2026-01-02T03:04:05", ""},
      {"2026-01-02T03:04:05.Z", ""},
      {"2026-01-02T03:04:05Zx", ""},
      {"2026-01-02 03:04:05Z", ""},
      {"2026-1-2T03:04:05Z", ""},
      {"2026-01-02T03:04:05+0230", ""},
      {"0000-01-01T00:00:00+00:01", ""},
      {"9999-12-31T23:59:59-00:01", ""},
      {"2026-01-02", ""},
      {"", ""},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    const auto time = parse_rfc3339(c.given);
    CHECK((time ? format_rfc3339(*time) : "") == c.want);
  }
}

TEST_CASE("A time to the second has no fraction", "[rfc3339]") {
  const auto time = parse_rfc3339("2026-01-02T03:04:05.999Z");
  REQUIRE(time);
  CHECK(format_seconds(*time) == "2026-01-02T03:04:05Z");
  CHECK(format_seconds(Timestamp(std::chrono::microseconds(-1))) == "1969-12-31T23:59:59Z");
}

TEST_CASE("A MicroTime has six digits of the second, also when they are zeros", "[rfc3339]") {
  const auto second = parse_rfc3339("2026-01-02T03:04:05Z");
  REQUIRE(second);
  CHECK(format_micro_time(*second) == "2026-01-02T03:04:05.000000Z");
  CHECK(format_micro_time(*second + std::chrono::microseconds(70)) ==
        "2026-01-02T03:04:05.000070Z");
}

}  // namespace
}  // namespace k8s::json
