#include "scheduler/gpu/devices.h"

#include "tests/support/catch.h"

using namespace sched::gpu;

TEST_CASE("what is taken of devices is added up, and taken back") {
  DeviceUses uses;
  const DeviceShare part{.device = 2, .milli = 300};
  const DeviceShare more{.device = 2, .milli = 700};
  const DeviceShare one{.device = 0, .slices = 0b0011, .extras = 0b01};
  const DeviceShare two{.device = 0, .slices = 0b1100, .extras = 0b10};
  add(uses, part);
  REQUIRE(uses.size() == 3);
  CHECK(uses[2].milli == 300);
  CHECK(uses[0].is_free());
  CHECK_FALSE(uses[2].is_free());
  add(uses, more);
  add(uses, one);
  add(uses, two);
  CHECK(uses.size() == 3);
  CHECK(uses == DeviceUses{{.slices = 0b1111, .extras = 0b11}, {}, {.milli = 1'000}});
  CHECK_FALSE(uses[0].is_free());

  subtract(uses, part);
  subtract(uses, one);
  CHECK(uses == DeviceUses{{.slices = 0b1100, .extras = 0b10}, {}, {.milli = 700}});
  subtract(uses, more);
  subtract(uses, two);
  CHECK(uses == DeviceUses(3));
}
