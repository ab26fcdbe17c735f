#include "bench/replay/output/fail_if.h"

#include "tests/support/catch.h"

using bench::replay::Condition;
using bench::replay::failures;
using bench::replay::parse_condition;
using bench::replay::PolicyMeans;
using Relation = Condition::Relation;

TEST_CASE("conditions on figures") {
  struct Case {
    const char* text;
    const char* figure;
    Relation relation;
    double limit;
  };
  const std::vector<Case> cases = {
      {"unallocated>5.0", "unallocated", Relation::kGreater, 5},
      {"refused >= 1", "refused", Relation::kGreaterOrEqual, 1},
      {" allocated<90.25 ", "allocated", Relation::kLess, 90.25},
      {"placed_pods<=1e3", "placed_pods", Relation::kLessOrEqual, 1'000},
      {"unallocated_at_100>4", "unallocated_at_100", Relation::kGreater, 4},
      {"moved_pods>-1", "moved_pods", Relation::kGreater, -1},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto condition = parse_condition(c.text);
    REQUIRE(condition);
    CHECK(condition->text == c.text);
    CHECK(condition->figure == c.figure);
    CHECK(condition->relation == c.relation);
    CHECK(condition->limit == c.limit);
  }
}

TEST_CASE("conditions that are none say what would be one") {
  struct Case {
    const char* text;
    const char* complaint;
  };
  const std::vector<Case> cases = {
      {"", "expected FIGURE"},
      {"unallocated", "expected FIGURE"},
      {"unallocated=5", "expected FIGURE"},
      {"unallocated>", "\"\" is not a number"},
      {"unallocated>=", "\"\" is not a number"},
      {"unallocated>5 %", "\"5 %\" is not a number"},
      {"unallocated>nan", "is not a number"},
      {"unallocated>5>6", "\"5>6\" is not a number"},
      {"unalocated>5", "there is no figure \"unalocated\"; there are unallocated, allocated, "},
      {">5", "there is no figure \"\""},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto condition = parse_condition(c.text);
    REQUIRE_FALSE(condition);
    CHECK_THAT(condition.error().message,
               Catch::StartsWith("--fail-if '") && Catch::Contains(c.complaint));
  }
}

TEST_CASE("the mean of each policy is judged") {
  PolicyMeans good;
  good.trace = "t";
  good.policy = "good";
  good.figures["unallocated"] = {5, 3};
  PolicyMeans bad = good;
  bad.policy = "bad";
  bad.figures["unallocated"] = {5.001, 0};
  const std::vector<Condition> conditions{*parse_condition("unallocated>5.0")};
  const auto lines = failures(conditions, {good, bad});
  REQUIRE(lines);
  CHECK(*lines ==
        std::vector<std::string>{"bad on t: unallocated is 5.0010, and fails if unallocated>5.0"});
  const auto unknown = failures({*parse_condition("unallocated_at_120>1")}, {good});
  REQUIRE_FALSE(unknown);
  CHECK_THAT(unknown.error().message, Catch::Contains("good on t never came so far"));
}
