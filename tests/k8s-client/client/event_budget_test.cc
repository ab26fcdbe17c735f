#include "k8s-client/event_budget.h"

#include "tests/support/catch.h"

#include <string>

namespace k8s {
namespace {

using namespace std::chrono_literals;

// How many of `wanted` are given.
int taken(EventBudget& budget, const std::string& object, EventBudget::TimePoint now, int wanted) {
  int given = 0;
  for (int i = 0; i < wanted; ++i) given += budget.take(object, now) ? 1 : 0;
  return given;
}

TEST_CASE("an object has 25 events at once, and one more in five minutes", "[events]") {
  EventBudget budget({});
  const EventBudget::TimePoint start{1h};
  CHECK(taken(budget, "a", start, 100) == 25);
  CHECK(taken(budget, "b", start, 100) == 25);
  CHECK(taken(budget, "a", start + 299s, 100) == 0);
  CHECK(taken(budget, "a", start + 300s, 100) == 1);
  CHECK(taken(budget, "a", start + 1200s, 100) == 3);
  CHECK(taken(budget, "a", start + 24h, 100) == 25);
}

TEST_CASE("what is kept of objects is bounded: the one longest without an event goes", "[events]") {
  EventBudget budget({.burst = 1, .most_objects = 2});
  const EventBudget::TimePoint now{1h};
  CHECK(budget.take("a", now));
  CHECK(budget.take("b", now));
  CHECK_FALSE(budget.take("a", now));
  CHECK(budget.take("c", now));
  CHECK_FALSE(budget.take("a", now));
  CHECK(budget.take("b", now));
}

}  // namespace
}  // namespace k8s
