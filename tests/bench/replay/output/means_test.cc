#include "bench/replay/output/means.h"

#include "tests/support/catch.h"

using bench::replay::means_over_seeds;
using bench::replay::Result;

namespace {

Result result(const std::string& trace, const std::string& policy, double unallocated) {
  Result result;
  result.trace = trace;
  result.policy = policy;
  result.arrival = "inflate:130";
  result.figures["unallocated"] = unallocated;
  result.steps.push_back({.x = 130, .allocated = 100 - unallocated});
  result.seconds = 1;
  return result;
}

}  // namespace

TEST_CASE("runs are put together by trace and policy, in the order in which they come") {
  const auto means = means_over_seeds(
      {result("a", "x", 4), result("a", "y", 5), result("b", "x", 7), result("a", "x", 6)});
  REQUIRE(means.size() == 3);
  CHECK(means[0].trace == "a");
  CHECK(means[0].policy == "x");
  CHECK(means[0].runs == 2);
  CHECK(means[0].figures.at("unallocated").mean == Approx(5));
  CHECK(means[0].figures.at("unallocated").deviation == Approx(1));  // of the population
  CHECK(means[0].seconds == Approx(2));
  CHECK(means[1].policy == "y");
  CHECK(means[2].trace == "b");
  CHECK(means_over_seeds({}).empty());
}

TEST_CASE("a figure that one run lacks has no mean") {
  Result one = result("a", "x", 4);
  one.figures["unallocated_at_100"] = 3;
  const auto means = means_over_seeds({one, result("a", "x", 6)});
  REQUIRE(means.size() == 1);
  CHECK(means[0].figures.count("unallocated_at_100") == 0);
}

TEST_CASE("what was published stands beside what it is about") {
  const auto published = [](Result run) { return means_over_seeds({std::move(run)})[0].published; };
  const auto fgd = published(result("openb_pod_list_default", "fgd", 4));
  REQUIRE(fgd);
  CHECK(fgd->mean == Approx(4.61).margin(0.005));
  CHECK(fgd->deviation == Approx(0.08).margin(0.005));
  CHECK_FALSE(published(result("openb_pod_list_default", "usable_gpu", 4)));
  CHECK_FALSE(published(result("another", "fgd", 4)));
  Result streamed = result("openb_pod_list_default", "fgd", 4);
  streamed.arrival = "stationary:95";
  CHECK_FALSE(published(streamed));
}
