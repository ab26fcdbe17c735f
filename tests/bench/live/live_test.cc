#include "bench/live/live.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace {

using Words = std::vector<std::string>;

TEST_CASE("live: the harness and the scheduler of the same build are taken") {
  const std::filesystem::path self = "/src/build/release/bin/bench";
  const std::string harness = "/src/build/cluster/bin/compare";
  const std::string scheduler = "/src/build/release/bin/gpu-scheduler";
  CHECK(bench::live::command_line(self, {}) == Words{harness, "--gpu-scheduler", scheduler});
  CHECK(bench::live::command_line(self, {"series", "--shapes", "50"}) ==
        Words{harness, "series", "--shapes", "50", "--gpu-scheduler", scheduler});
}

TEST_CASE("live: a scheduler that is named stays") {
  const std::filesystem::path self = "/src/build/dev/bin/bench";
  for (const Words& arguments :
       {Words{"--gpu-scheduler", "other"}, Words{"--gpu-scheduler=other", "--nodes", "3"}}) {
    Words want{"/src/build/cluster/bin/compare"};
    want.insert(want.end(), arguments.begin(), arguments.end());
    CHECK(bench::live::command_line(self, arguments) == want);
  }
}

}  // namespace
