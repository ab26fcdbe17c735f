// That what is measured is there, small; no time is judged.
#include "bench/questions/questions.h"

#include "tests/support/catch.h"

#include <sstream>

using namespace bench::questions;

TEST_CASE("each question has its cost, beside that of a decision") {
  const Options options{.nodes = {40}, .waiting = 100, .rounds = 2};
  const auto figures = measure(40, options);
  REQUIRE(figures.size() == 6);
  CHECK(figures.back().question == "a decision");
  for (const Figure& figure : figures) {
    CHECK(figure.nodes == 40);
    CHECK(figure.cpu_seconds > 0);
  }
  std::ostringstream out;
  CHECK(run(options, out) == 0);
  CHECK_THAT(out.str(), Catch::Contains("a scrape (gpu_totals)") && Catch::Contains("DECISIONS"));
}
