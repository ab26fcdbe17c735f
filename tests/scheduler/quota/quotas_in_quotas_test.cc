// Quotas that are in another quota: departments and their teams.
#include "scheduler/quota/ledger.h"
#include "scheduler/quota/ledger_trial.h"
#include "tests/scheduler/quota/quota_tree.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace sched;
using namespace sched::quota;
using tests::gpu_quota;
using tests::kNow;
using tests::team;
using tests::Tree;

TEST_CASE("a team borrows what its department has, its own siblings' idle GPUs too") {
  Tree tree;
  tree.has(gpu_quota("physics").line("H100", 8));
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(team("b", "physics").line("H100", 2));
  CHECK(tree.most("a") == 8);
  tree.use("a", 4);
  CHECK(tree.room("a", 4) == Room::kBorrowed);
  CHECK(tree.room("a", 5) == Room::kNone);
  tree.use("a", 3);
  CHECK(tree.account("physics") == "7 of 8, borrowed 0, lent 0");
  CHECK(tree.account("a") == "7 of 4, borrowed 3, lent 0");
  // Two of the three are not guaranteed to any quota.
  CHECK(tree.account("b") == "0 of 2, borrowed 0, lent 1");
  tree.use("a", 1);
  // b takes its own at once; then the department uses more than it has, and nothing is borrowed.
  CHECK(tree.room("b", 2) == Room::kGuaranteed);
  CHECK(tree.room("b", 3) == Room::kNone);
  tree.use("b", 1);
  CHECK(tree.condition("physics", "OverLimit") ==
        "True H100: 9 in use (pods that are being deleted included), 8 allowed; the quotas in it "
        "get no more than their guarantees");
  CHECK(tree.room("b", 1) == Room::kGuaranteed);
  tree.use("b", 1);
  CHECK(tree.account("physics") == "10 of 8, borrowed 0, lent 0");
  CHECK(tree.room("a", 1) == Room::kNone);
  CHECK(tree.message("a", 1) ==
        "quota a: H100 needs 1, 8 of 8 in use (4 borrowed in quota physics), first in line; 3 more "
        "must be freed");
}

TEST_CASE(
    "what a team keeps for itself nobody borrows, neither its sibling nor another department") {
  Tree tree;
  tree.has(gpu_quota("physics").in_cohort("company").line("H100", 8));
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(team("b", "physics").line("H100", 4).lendable(1));
  tree.has(gpu_quota("biology").in_cohort("company").line("H100", 0));
  tree.has(team("c", "biology").line("H100", 0));
  CHECK(tree.most("a") == 5);
  CHECK(tree.most("c") == 5);
  tree.use("a", 4);
  CHECK(tree.most("a") == 1);
  CHECK(tree.most("c") == 1);
  tree.use("c", 1);
  // a may still have what b lends, since that is the department's own, and it takes it back.
  CHECK(tree.room("a", 1) == Room::kBorrowed);
  tree.use("a", 1);
  CHECK(tree.room("a", 1) == Room::kNone);
  CHECK(tree.room("c", 1) == Room::kNone);
  CHECK(tree.room("b", 4) == Room::kGuaranteed);
  // What is kept for a pod of b is not idle.
  tree.charges().clear();
  tree.ledger().hold(tree.id("b"), Demand{.gpus = 4}, {tree.classes()[0]});
  CHECK(tree.most("a") == 4);
  CHECK(tree.most("c") == 4);
}

TEST_CASE("what its siblings keep for themselves a team can never get, whatever the limits are") {
  Tree tree;
  const auto never = [&](std::int64_t gpus) {
    return tree.ledger().answers().never_fits(tree.id("a"), Demand{.gpus = gpus});
  };
  tree.has(gpu_quota("physics").line("H100", 6));
  tree.has(team("a", "physics").line("H100", 2).limit(6));
  tree.has(team("b", "physics").line("H100", 4).lendable(0));
  CHECK(tree.most("a") == 2);
  CHECK_FALSE(never(2));
  CHECK(never(3));
  CHECK(tree.message("a", 3) ==
        "quota a: H100 needs 3, 0 of 6 in use; it can never give that much");
  // The department may borrow two.
  tree.has(gpu_quota("physics").in_cohort("company").line("H100", 6).limit(20));
  tree.has(gpu_quota("rest").of("rest").in_cohort("company").line("H100", 2));
  tree.has(team("a", "physics").line("H100", 2));
  CHECK(tree.most("a") == 4);
  CHECK_FALSE(never(4));
  CHECK(never(5));
}

TEST_CASE("what teams of other departments keep for themselves a team can never get either") {
  Tree tree;
  const auto never = [&](const std::string& namespace_, std::int64_t gpus) {
    return tree.ledger().answers().never_fits(tree.id(namespace_), Demand{.gpus = gpus});
  };
  tree.has(gpu_quota("company").in_cohort("c").line("H100", 8));
  tree.has(gpu_quota("physics").in_quota("company").line("H100", 6));
  tree.has(team("a", "company").line("H100", 2));
  tree.has(team("b", "physics").line("H100", 4).lendable(1));
  tree.has(gpu_quota("rest").of("rest").in_cohort("c").line("H100", 2));
  CHECK(tree.most("a") == 8 - 3 + 2);
  CHECK_FALSE(never("a", 7));
  CHECK(never("a", 8));
  CHECK(tree.message("a", 8) ==
        "quota a: H100 needs 8, 0 of 7 in use; it can never give that much");
  CHECK(tree.most("rest") == 2 + 5);
  CHECK_FALSE(never("rest", 7));
  CHECK(never("rest", 8));
}

TEST_CASE("departments of a cohort lend to each other what their teams leave") {
  Tree tree;
  tree.has(gpu_quota("physics").in_cohort("company").line("H100", 8).lendable(2));
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(gpu_quota("biology").in_cohort("company").line("H100", 8));
  tree.has(team("c", "biology").line("H100", 8));
  tree.has(gpu_quota("alone").of("alone").in_cohort("company").line("H100", 4));
  CHECK(tree.most("a") == 20);
  CHECK(tree.most("c") == 8 + 2 + 4);
  CHECK(tree.most("alone") == 4 + 2 + 8);
  tree.use("a", 10);
  CHECK(tree.account("physics") == "10 of 8, borrowed 2, lent 0");
  CHECK(tree.account("biology") == "0 of 8, borrowed 0, lent 1");
  CHECK(tree.account("alone") == "0 of 4, borrowed 0, lent 1");
  CHECK(tree.room("c", 8) == Room::kGuaranteed);
  CHECK(tree.most("c") == 8 + 2);
  CHECK(tree.most("a") == 8 + 4 - 2);
}

TEST_CASE("pods of namespaces that a parent had before its children are in its account") {
  Tree tree;
  tree.has(gpu_quota("company").line("H100", 16));
  tree.has(team("physics", "company").line("H100", 8));
  tree.use("physics", 3);
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(team("b", "physics").line("H100", 4).lendable(2));
  CHECK(tree.room("physics", 1) == Room::kNone);
  CHECK(tree.account("physics") == "3 of 8, borrowed 0, lent 0");
  tree.use("a", 2);
  tree.ledger().hold(tree.id("b"), Demand{.gpus = 4}, {tree.classes()[0]});
  CHECK(tree.account("physics") == "5 of 8, borrowed 0, lent 0");
  CHECK(tree.account("company") == "5 of 16, borrowed 0, lent 0");
  CHECK(tree.ledger().report().loans().empty());
  tree.use("b", 4);
  CHECK(tree.account("physics") == "9 of 8, borrowed 1, lent 0");
  CHECK(tree.condition("physics", "OverLimit") == "False ");
  tree.end(0);
  CHECK(tree.account("physics") == "6 of 8, borrowed 0, lent 0");
}

TEST_CASE("a quota in no other and in no cohort borrows nothing, whatever it uses") {
  Tree tree;
  tree.has(gpu_quota("alone").of("alone").line("H100", 2));
  tree.use("alone", 4);
  CHECK(tree.account("alone") == "4 of 2, borrowed 0, lent 0");
  CHECK(tree.message("alone", 1) ==
        "quota alone: H100 needs 1, 4 of 2 in use, first in line; 3 more must be freed");
}

TEST_CASE("guarantees that a department does not have are borrowed, and it says so") {
  Tree tree;
  tree.has(gpu_quota("physics").in_cohort("company").line("H100", 4));
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(team("b", "physics").line("H100", 4));
  tree.has(gpu_quota("rest").of("rest").in_cohort("company").line("H100", 2));
  CHECK(tree.condition("physics", "GuaranteesExceedParent") ==
        "True H100: the quotas in it guarantee 8, it guarantees 4; what is beyond they borrow, and "
        "they keep nothing for themselves");
  CHECK(tree.room("a", 4) == Room::kGuaranteed);
  tree.use("a", 4);
  CHECK(tree.room("b", 2) == Room::kBorrowed);
  CHECK(tree.room("b", 3) == Room::kNone);
  tree.has(team("b", "physics").line("H100", 0).generation(2));
  CHECK(tree.condition("physics", "GuaranteesExceedParent") == "False ");
  // What quotas guarantee beyond what nodes have counts each GPU once.
  CHECK(tree.condition("physics", "GuaranteesExceedGpus") == "False ");
}

TEST_CASE("lines of several types share a department's line that includes them") {
  Tree tree;
  tree.has(gpu_quota("physics").line("*", 8));
  tree.has(team("a", "physics").line("H100", 4).line("L4", 2));
  tree.has(team("b", "physics").line("*", 2));
  CHECK(tree.most("a", 0) == 8);
  CHECK(tree.most("a", 1) == 8);
  tree.use("a", 4, 0);
  tree.use("a", 3, 1);
  CHECK(tree.account("physics") == "7 of 8, borrowed 0, lent 0");
  CHECK(tree.most("b", 1) == 2);
  CHECK(tree.most("a", 0) == 1);
  // One pool, named once.
  CHECK(tree.ledger().answers().in_pools(tree.id("a")).size() == 1);
}

TEST_CASE("a quota that is nowhere gives nothing, says why, and gives when that is mended") {
  Tree tree;
  const auto ready = [&](const std::string& quota) { return tree.condition(quota, "Ready"); };
  const std::string until = "; until it is repaired its namespaces get no more GPUs";
  tree.has(team("a", "physics").line("H100", 4));
  CHECK(tree.room("a", 1) == Room::kNone);
  CHECK(ready("a") == "False spec.parent: there is no quota physics" + until);
  CHECK(tree.ledger().report().error_of(tree.id("a")) == "spec.parent: there is no quota physics");
  tree.has(gpu_quota("physics").line("L4", 8));
  CHECK(ready("a") == "False spec.parent: quota physics has no line for H100" + until);
  tree.has(gpu_quota("physics").line("H100", 8).generation(2));
  CHECK(tree.room("a", 4) == Room::kGuaranteed);
  CHECK(ready("a") == "True ");
  CHECK(ready("physics") == "True ");

  tree.use("a", 1);
  tree.ledger().erase("physics", kNow);
  CHECK(ready("a") == "False spec.parent: quota physics is not in force itself" + until);
  CHECK(tree.room("a", 1) == Room::kNone);
  tree.has(gpu_quota("physics").line("H100", 8).generation(3));
  CHECK(tree.account("physics") == "1 of 8, borrowed 0, lent 0");

  tree.has(gpu_quota("physics").in_quota("a").line("H100", 8).generation(4));
  CHECK(ready("a") ==
        "False spec.parent: quota physics is in itself, or more than 4 deep in others" + until);
  CHECK(ready("physics") ==
        "False spec.parent: quota a is in itself, or more than 4 deep in others" + until);
  CHECK(tree.room("a", 1) == Room::kNone);
  tree.has(gpu_quota("physics").of("own").line("H100", 8).generation(5));
  CHECK(ready("physics") ==
        "False spec.namespaces: quota a has it as its parent, so it gives none itself" + until);
  CHECK(tree.room("own", 1) == Room::kNone);
  CHECK(tree.room("a", 1) == Room::kGuaranteed);
}

TEST_CASE("a quota that names no parent any more borrows nothing of the one that it had") {
  Tree tree;
  tree.has(gpu_quota("physics").line("H100", 8));
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(team("b", "physics").line("H100", 2));
  CHECK(tree.most("a") == 8);
  tree.has(gpu_quota("a").of("a").line("H100", 4));
  CHECK(tree.most("a") == 4);
  CHECK(tree.most("b") == 8);
}

TEST_CASE("quotas are in each other four deep, no deeper") {
  Tree tree;
  tree.has(gpu_quota("q1").in_cohort("c").line("H100", 8));
  for (int i = 2; i <= 4; ++i) {
    tree.has(
        gpu_quota("q" + std::to_string(i)).in_quota("q" + std::to_string(i - 1)).line("H100", 8));
  }
  tree.has(gpu_quota("lends").of("lends").in_cohort("c").line("H100", 4));
  tree.has(gpu_quota("q4").of("four").in_quota("q3").line("H100", 8).generation(2));
  CHECK(tree.most("four") == 12);
  tree.has(gpu_quota("q5").of("five").in_quota("q4").line("H100", 1));
  CHECK(tree.room("five", 1) == Room::kNone);
  CHECK(tree.ledger().report().error_of(tree.id("five")) ==
        "spec.parent: quotas may be in each other 4 deep");
  CHECK(tree.room("four", 1) == Room::kGuaranteed);
}

TEST_CASE("departments are compared before their teams") {
  Tree tree;
  tree.has(gpu_quota("large").in_cohort("c").line("H100", 4));
  tree.has(team("a", "large").line("H100", 1));
  tree.has(team("b", "large").line("H100", 1));
  tree.has(gpu_quota("small").in_cohort("c").line("H100", 2));
  tree.has(team("d", "small").line("H100", 2));
  tree.has(gpu_quota("lends").of("lends").in_cohort("c").line("H100", 40));
  const auto order = [&](const std::string& one, const std::string& other) {
    const Demand next{.gpus = 1};
    return compare(tree.ledger().answers().standing(tree.id(one), next, kNoHold),
                   tree.ledger().answers().standing(tree.id(other), next, kNoHold));
  };
  tree.use("a", 3);
  tree.use("d", 2);
  // large has one left, which a may borrow; d would borrow of another department.
  CHECK(order("a", "d") < 0);
  CHECK(order("b", "a") < 0);  // within its guarantee
  tree.use("a", 1);
  CHECK(order("a", "d") == 0 - order("d", "a"));
  tree.use("d", 1);  // large 4 of 4, small 3 of 2
  CHECK(order("a", "d") < 0);
  tree.use("a", 3);  // large 7 of 4, small 3 of 2: 3/4 against 1/2
  CHECK(order("d", "a") < 0);
  // A weight of the department's own.
  tree.has(gpu_quota("large").in_cohort("c").line("H100", 4).weighs(8).generation(2));
  CHECK(order("a", "d") < 0);
  tree.has(gpu_quota("large").in_cohort("c").line("H100", 4).weighs(0).generation(3));
  CHECK(order("d", "a") < 0);
}

TEST_CASE("a charge of one team moves its whole department, and no other") {
  Tree tree;
  tree.has(gpu_quota("physics").in_cohort("c").line("H100", 4));
  tree.has(team("a", "physics").line("H100", 1));
  tree.has(team("b", "physics").line("H100", 1));
  tree.has(gpu_quota("biology").in_cohort("c").line("H100", 4));
  tree.has(team("d", "biology").line("H100", 1));
  static_cast<void>(tree.ledger().take_news());
  static_cast<void>(tree.ledger().take_status_changes());
  tree.use("a", 2);
  std::vector<QuotaId> accounts = tree.ledger().take_news().accounts;
  std::sort(accounts.begin(), accounts.end());
  std::vector<QuotaId> want{tree.id("a"), tree.id("b")};
  std::sort(want.begin(), want.end());
  CHECK(accounts == want);
  const std::set<QuotaId> statuses = tree.ledger().take_status_changes();
  CHECK(statuses.size() == 2);  // a, and physics
  CHECK(statuses.contains(tree.id("a")));
}

TEST_CASE("what is lent to whom, and who may take it back") {
  Tree tree;
  tree.has(gpu_quota("physics").in_cohort("c").line("H100", 8));
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(team("b", "physics").line("H100", 4));
  tree.has(gpu_quota("biology").in_cohort("c").line("H100", 8));
  tree.has(team("d", "biology").line("H100", 4));
  tree.has(gpu_quota("alone").of("alone").line("H100", 2));
  const Ledger& ledger = tree.ledger();
  using Number = std::optional<std::size_t>;
  const auto borrowed_from = [&](const Charge& charge, const std::string& to) {
    const auto lent = ledger.answers().loan_of(charge, tree.id(to));
    return lent ? Number(lent->pool) : std::nullopt;
  };
  const auto reclaims = [&](const std::string& by, std::int64_t gpus) {
    return ledger.answers().pools_to_reclaim(tree.id(by), Demand{.gpus = gpus}, kNoHold,
                                             tree.classes()[0]);
  };
  Charge& of_b = tree.use("b", 6);
  CHECK(borrowed_from(of_b, "a") == Number(0));
  // Its department has all that it uses.
  CHECK(borrowed_from(of_b, "d") == Number());
  CHECK(borrowed_from(of_b, "alone") == Number());
  CHECK(borrowed_from(of_b, "nobody") == Number());
  tree.use("b", 4);
  CHECK(borrowed_from(of_b, "a") == Number(0));
  CHECK(borrowed_from(of_b, "d") == Number(1));
  CHECK(borrowed_from(of_b, "alone") == Number(QuotaAnswers::kNoPool));
  CHECK(borrowed_from(of_b, "nobody") == Number(QuotaAnswers::kNoPool));
  Charge& of_alone = tree.use("alone", 4);
  CHECK(borrowed_from(of_alone, "a") == Number(QuotaAnswers::kNoPool));
  {
    LedgerTrial trial(ledger);
    trial.take_away(*tree.charges()[1]);
    CHECK_FALSE(ledger.answers().loan_of(of_b, tree.id("d"), &trial));
    const auto lent = ledger.answers().loan_of(of_b, tree.id("a"), &trial);
    REQUIRE(lent);
    CHECK(lent->pool == 0);
    CHECK(lent->guaranteed == GpuShare::gpus(4));  // of six, two are borrowed
  }

  CHECK(reclaims("d", 4) == 2);
  CHECK(reclaims("d", 5) == 0);      // it would borrow
  CHECK(reclaims("a", 4) == 1);      // its department has more than its own already
  CHECK(reclaims("alone", 1) == 0);  // it lends nothing
  CHECK(reclaims("nobody", 1) == 0);
  SECTION("what a team keeps for itself counts as used in its department") {
    tree.charges().clear();
    tree.has(team("a", "physics").line("H100", 4).lendable(0).generation(2));
    tree.use("b", 4);
    CHECK(reclaims("a", 4) == 2);
    tree.use("b", 1);
    CHECK(reclaims("a", 4) == 1);
  }
  SECTION("a department that promises more than it has") {
    tree.charges().clear();
    tree.has(team("b", "physics").line("H100", 8).generation(2));
    tree.use("b", 4);
    CHECK(reclaims("a", 4) == 2);
    tree.use("b", 4);
    CHECK(reclaims("a", 4) == 1);
    CHECK(borrowed_from(*tree.charges()[0], "a") == Number());  // what b is promised is b's
  }
}
