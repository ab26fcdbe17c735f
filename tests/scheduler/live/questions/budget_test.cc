#include "scheduler/live/questions/budget.h"

#include "tests/support/catch.h"

#include <chrono>
#include <string>

using sched::live::Budget;
using namespace std::chrono_literals;

namespace {

constexpr Budget::Clock::time_point kBudgetStart{1h};

// How many questions in a row are allowed now.
int allowed_now(Budget& budget, const std::string& account, Budget::Clock::time_point now) {
  int allowed = 0;
  while (!budget.take(account, now)) ++allowed;
  return allowed;
}

}  // namespace

TEST_CASE("an account may ask some times at once, then one time every so often") {
  Budget budget({.at_once = 3, .each = 2s});
  CHECK(allowed_now(budget, "ada", kBudgetStart) == 3);
  CHECK(budget.take("ada", kBudgetStart) == 2s);
  CHECK(budget.take("ada", kBudgetStart + 1999ms) == 1ms);
  CHECK_FALSE(budget.take("ada", kBudgetStart + 2s));
  CHECK(budget.take("ada", kBudgetStart + 2s) == 2s);
  CHECK(allowed_now(budget, "ada", kBudgetStart + 6s) == 2);
  CHECK(allowed_now(budget, "ada", kBudgetStart + 1h) == 3);
}

TEST_CASE("the budgets of accounts are apart") {
  Budget budget({.at_once = 2, .each = 2s});
  CHECK(allowed_now(budget, "ada", kBudgetStart) == 2);
  CHECK(allowed_now(budget, "bob", kBudgetStart) == 2);
}

TEST_CASE("however many accounts there are, so many are kept, and those that asked most stay") {
  Budget budget({.at_once = 5, .each = 2s, .accounts = 3});
  CHECK(allowed_now(budget, "greedy", kBudgetStart) == 5);
  for (int i = 0; i < 1'000; ++i) {
    CHECK_FALSE(budget.take("account-" + std::to_string(i), kBudgetStart));
    CHECK(budget.accounts() <= 3);
  }
  CHECK(budget.take("greedy", kBudgetStart));
}

TEST_CASE("a budget that is full again is forgotten when room is needed") {
  Budget budget({.at_once = 5, .each = 2s, .accounts = 2});
  CHECK_FALSE(budget.take("early", kBudgetStart));
  CHECK_FALSE(budget.take("late", kBudgetStart + 3s));
  CHECK_FALSE(budget.take("later", kBudgetStart + 3s));
  CHECK(budget.accounts() == 2);
  CHECK(allowed_now(budget, "late", kBudgetStart + 3s) == 4);
}
