// What a department limits, and what its teams hold: who gets it, and who is told of it.
#include "scheduler/quota/ledger.h"
#include "tests/scheduler/quota/quota_tree.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <algorithm>
#include <cstdint>
#include <string>

using namespace sched;
using namespace sched::quota;
using tests::gpu_quota;
using tests::team;
using tests::Tree;

TEST_CASE("the limit of a department holds, also for a team within its guarantee") {
  Tree tree;
  tree.has(gpu_quota("physics").in_cohort("company").line("H100", 8).limit(10));
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(team("b", "physics").line("H100", 4));
  tree.has(gpu_quota("rest").of("rest").in_cohort("company").line("H100", 16));
  CHECK(tree.most("a") == 10);
  tree.use("a", 9);
  CHECK(tree.room("b", 1) == Room::kGuaranteed);
  CHECK(tree.room("b", 2) == Room::kNone);
  CHECK(
      tree.message("b", 2) ==
      "quota b: H100 needs 2, 0 of 10 in use, first in line; quota physics, which it is in, has no "
      "more for it, 1 more must be freed in that");
  static_cast<void>(tree.ledger().take_news());
  tree.charges().clear();
  // So b is to be told when a ends.
  const News news = tree.ledger().take_news();
  const auto pools = tree.ledger().answers().in_pools(tree.id("b"));
  CHECK(std::any_of(pools.begin(), pools.end(), [&](const InPool& in) {
    return std::find(news.pools.begin(), news.pools.end(), in.pool) != news.pools.end();
  }));
}

TEST_CASE("the limit of a department holds for pods for which its teams hold GPUs, too") {
  Tree tree(GENERATE(false, true));
  tree.has(gpu_quota("physics").line("H100", 8).limit(8));
  tree.has(team("a", "physics").line("H100", 3));
  tree.has(team("b", "physics").line("H100", 3));
  tree.has(team("c", "physics").line("H100", 2));
  for (int i = 0; i < 8; ++i) tree.use("b", 1);
  REQUIRE(tree.room("a", 1) == Room::kNone);
  tree.ledger().hold(tree.id("a"), Demand{.gpus = 1}, {tree.classes()[0]});
  tree.ledger().hold(tree.id("c"), Demand{.gpus = 2}, {tree.classes()[0]});
  const auto may_run = [&](const std::string& namespace_, std::int64_t gpus) {
    const Admission admission =
        tree.ledger().answers().admit(tree.id(namespace_), Demand{.gpus = gpus}, kFirstHold);
    return admission.allows(tree.classes()[0], true);
  };
  CHECK_FALSE(may_run("a", 1));
  CHECK_FALSE(may_run("c", 2));
  static_cast<void>(tree.ledger().take_news());
  tree.end(0);
  // Neither waits for what is held for the other, and both are told.
  CHECK(may_run("a", 1));
  CHECK_FALSE(may_run("c", 2));
  const News news = tree.ledger().take_news();
  for (const char* waits : {"a", "c"}) {
    const auto pools = tree.ledger().answers().in_pools(tree.id(waits));
    CHECK(std::any_of(pools.begin(), pools.end(), [&](const InPool& in) {
      return tree.ledger().answers().lends(in.pool) &&
             std::find(news.pools.begin(), news.pools.end(), in.pool) != news.pools.end();
    }));
  }
  tree.end(0);
  CHECK(may_run("c", 2));
  // A pod for which nothing is held gets none of it.
  CHECK(tree.room("b", 1) == Room::kNone);
  CHECK(tree.room("a", 1) == Room::kNone);
  tree.ledger().release(tree.id("a"));
  tree.use("a", 1);
  CHECK_FALSE(may_run("c", 2));
  tree.end(0);
  CHECK(may_run("c", 2));
}

TEST_CASE(
    "what is held in a department that promises more than it has its other teams do not get") {
  Tree tree(GENERATE(false, true));
  tree.has(gpu_quota("physics").line("H100", 4));
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(team("b", "physics").line("H100", 4));
  tree.use("a", 1);
  tree.use("a", 1);
  tree.ledger().hold(tree.id("b"), Demand{.gpus = 4}, {tree.classes()[0]});
  const auto may_run = [&] {
    const Admission admission =
        tree.ledger().answers().admit(tree.id("b"), Demand{.gpus = 4}, kFirstHold);
    return admission.allows(tree.classes()[0], true);
  };
  CHECK(tree.room("a", 1) == Room::kNone);
  CHECK_FALSE(may_run());
  tree.end(0);
  CHECK(tree.room("a", 1) == Room::kNone);
  static_cast<void>(tree.ledger().take_news());
  tree.end(0);
  CHECK(may_run());
  CHECK(tree.told_to("b"));
  CHECK(tree.account("physics") == "0 of 4, borrowed 0, lent 0");
  tree.ledger().release(tree.id("b"));
  tree.use("b", 4);
  CHECK(tree.account("physics") == "4 of 4, borrowed 0, lent 0");
  tree.end(0);
  CHECK(tree.most("a") == 4);
}

TEST_CASE("nothing is held for a pod for which a department does not have what it promises") {
  Tree tree;
  tree.has(gpu_quota("company").in_cohort("c").line("H100", 4));
  tree.has(gpu_quota("physics").in_quota("company").line("H100", 6));
  tree.has(team("a", "physics").line("H100", 6));
  tree.has(gpu_quota("lends").of("lends").in_cohort("c").line("H100", 8));
  const auto could_be_within = [&](std::int64_t gpus) {
    return tree.ledger().answers().could_be_within(tree.id("a"), Demand{.gpus = gpus});
  };
  CHECK(tree.room("a", 5) == Room::kBorrowed);
  CHECK_FALSE(could_be_within(5));
  CHECK_FALSE(tree.ledger().hold(tree.id("a"), Demand{.gpus = 5}, {tree.classes()[0]}));
  CHECK(could_be_within(4));
  CHECK(tree.ledger().hold(tree.id("a"), Demand{.gpus = 4}, {tree.classes()[0]}));
}

TEST_CASE("the limit of a department holds for what its teams keep for themselves, too") {
  Tree tree(GENERATE(false, true));
  tree.has(gpu_quota("physics").line("H100", 8).limit(8));
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(team("b", "physics").line("H100", 4).lendable(1));
  // Another scheduler's.
  tree.use("a", 7);
  tree.use("a", 2);
  CHECK(tree.room("b", 1) == Room::kNone);
  CHECK(tree.message("b", 1) ==
        "quota b: H100 needs 1, 0 of 8 in use, first in line; quota physics, which it is in, has "
        "no more for it, 2 more must be freed in that");
  CHECK(tree.condition("physics", "OverLimit") ==
        "True H100: 9 in use (pods that are being deleted included), 8 allowed; nothing new "
        "starts");
  static_cast<void>(tree.ledger().take_news());
  tree.end(1);
  CHECK(tree.room("b", 1) == Room::kGuaranteed);
  CHECK(tree.room("b", 2) == Room::kNone);
  CHECK(tree.told_to("b"));
}

TEST_CASE("who waits for the limit of a quota above is told, though no more is lent there") {
  Tree tree;
  tree.has(gpu_quota("company").line("H100", 8).limit(8));
  tree.has(gpu_quota("physics").in_quota("company").line("H100", 4).lendable(0));
  tree.has(team("a", "physics").line("H100", 4));
  tree.has(gpu_quota("biology").in_quota("company").line("H100", 4).lendable(0));
  tree.has(team("b", "biology").line("H100", 4));
  tree.has(team("c", "company").line("H100", 0));
  tree.use("c", 5);  // another scheduler's
  tree.use("b", 2);
  tree.use("b", 2);
  CHECK(tree.room("a", 1) == Room::kNone);
  static_cast<void>(tree.ledger().take_news());
  // Its department keeps all the same.
  tree.end(1);
  CHECK(tree.room("a", 1) == Room::kGuaranteed);
  CHECK(tree.room("a", 2) == Room::kNone);
  CHECK(tree.told_to("a"));
}

TEST_CASE("what teams only hold is neither used nor borrowed by their department") {
  Tree tree;
  tree.has(gpu_quota("physics").in_cohort("c").line("H100", 8));
  tree.has(team("a", "physics").line("H100", 2));
  tree.has(team("b", "physics").line("H100", 2));
  tree.has(team("e", "physics").line("H100", 4));
  tree.has(gpu_quota("biology").in_cohort("c").line("H100", 8).lendable(2));
  tree.has(team("d", "biology").line("H100", 4));
  Charge& of_b = tree.use("b", 6);
  const Ledger& ledger = tree.ledger();
  const auto reclaims = [&](const std::string& by, HoldRank rank) {
    return ledger.answers().pools_to_reclaim(tree.id(by), Demand{.gpus = 2}, rank,
                                             tree.classes()[0]);
  };
  const auto check = [&] {
    CHECK(tree.account("physics") == "6 of 8, borrowed 0, lent 0");
    CHECK(tree.account("biology") == "0 of 8, borrowed 0, lent 0");
    CHECK(tree.condition("biology", "CohortOverlent") == "False ");
    CHECK_FALSE(ledger.answers().loan_of(of_b, tree.id("d")));
  };
  check();
  tree.ledger().hold(tree.id("a"), Demand{.gpus = 2}, {tree.classes()[0]});
  tree.ledger().hold(tree.id("e"), Demand{.gpus = 4}, {tree.classes()[0]});
  check();
  // With what is held the department would go beyond its guarantee: what is held for others counts
  // for pods for which nothing is held.
  CHECK(reclaims("a", kFirstHold) == 2);
  CHECK(reclaims("a", kNoHold) == 1);
  tree.use("b", 3);
  CHECK(tree.account("physics") == "9 of 8, borrowed 1, lent 0");
  CHECK(tree.account("biology") == "0 of 8, borrowed 0, lent 1");
  CHECK(ledger.answers().loan_of(of_b, tree.id("d")));
  CHECK(reclaims("a", kFirstHold) == 1);
}

TEST_CASE("who waits in a department is told when another department lends, or frees") {
  Tree tree;
  tree.has(gpu_quota("physics").in_cohort("company").line("H100", 2));
  tree.has(team("a", "physics").line("H100", 2));
  tree.has(gpu_quota("biology").in_cohort("company").line("H100", 2));
  tree.has(team("c", "biology").line("H100", 2));
  tree.use("a", 2);
  tree.use("c", 2);
  CHECK(tree.room("a", 1) == Room::kNone);
  static_cast<void>(tree.ledger().take_news());
  tree.end(1);
  const News news = tree.ledger().take_news();
  const auto waits = tree.ledger().answers().in_pools(tree.id("a"));
  CHECK(std::any_of(waits.begin(), waits.end(), [&](const InPool& in) {
    return tree.ledger().answers().lends(in.pool) &&
           std::find(news.pools.begin(), news.pools.end(), in.pool) != news.pools.end();
  }));
  CHECK(tree.room("a", 1) == Room::kBorrowed);
}

TEST_CASE("a pod for which a team holds GPUs is told when another department lends") {
  Tree tree;
  tree.has(gpu_quota("physics").in_cohort("company").line("H100", 1));
  tree.has(gpu_quota("particles").in_quota("physics").line("H100", 2));
  tree.has(team("a", "particles").line("H100", 2));
  tree.has(gpu_quota("rest").of("rest").in_cohort("company").line("H100", 1));
  tree.use("a", 1);
  tree.use("rest", 1);
  REQUIRE(tree.ledger().hold(tree.id("a"), Demand{.gpus = 1}, {tree.classes()[0]}));
  const auto may_run = [&] {
    return tree.ledger()
        .answers()
        .admit(tree.id("a"), Demand{.gpus = 1}, kFirstHold)
        .allows(tree.classes()[0], true);
  };
  CHECK_FALSE(may_run());
  static_cast<void>(tree.ledger().take_news());
  tree.end(1);
  CHECK(may_run());
  const News news = tree.ledger().take_news();
  const auto waits = tree.ledger().answers().in_pools(tree.id("a"));
  CHECK(std::any_of(waits.begin(), waits.end(), [&](const InPool& in) {
    return tree.ledger().answers().lends(in.pool) &&
           std::find(news.pools.begin(), news.pools.end(), in.pool) != news.pools.end();
  }));
}
