// The folder of a replay's outputs.
#include "bench/replay/output/folder.h"

#include "tests/support/catch.h"

using bench::replay::OutputFolder;

TEST_CASE("a folder that takes no files is refused before anything is run") {
  // It exists, and no user can make a file in it, not even root.
  const auto folder = OutputFolder::open("/proc/self/fdinfo");
  REQUIRE_FALSE(folder);
  CHECK(folder.error().message == "--out /proc/self/fdinfo: no file can be made in it");
}

TEST_CASE("without a name there is no folder, and nothing is wrong") {
  CHECK(OutputFolder::open("").has_value());
}
