#include "scheduler/engine/report/amount_text.h"

#include "tests/support/catch.h"

#include <cstdint>
#include <limits>

TEST_CASE("amounts read as people write them") {
  struct Case {
    const char* resource;
    std::int64_t amount;
    const char* want;
  };
  const Case cases[] = {
      {"cpu", 0, "0"},
      {"cpu", 4000, "4"},
      {"cpu", 3500, "3500m"},
      {"memory", 1023, "1023"},
      {"memory", std::int64_t{64} << 30, "64Gi"},
      {"memory", (std::int64_t{125} << 30) / 2, "62.5Gi"},
      {"memory", (std::int64_t{1} << 30) - 1, "1023.9Mi"},
      {"ephemeral-storage", std::int64_t{3} << 40, "3Ti"},
      {"hugepages-2Mi", std::int64_t{512} << 20, "512Mi"},
      {"memory", std::numeric_limits<std::int64_t>::max(), "7.9Ei"},
      {"memory", -(std::int64_t{1} << 30), "-1Gi"},
      {"nvidia.com/gpu", 8, "8"},
      {"nvidia.com/gpu", std::numeric_limits<std::int64_t>::min(), "-9223372036854775807"},
      {"pods", 110, "110"},
  };
  for (const Case& c : cases) {
    CHECK(sched::amount_text(c.resource, c.amount) == c.want);
  }
}
