// Quotas that are in another quota: departments and their teams.
#include "scheduler/quota/ledger.h"
#include "scheduler/quota/ledger_trial.h"
#include "scheduler/quota/message.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"
#include "tests/support/gpu_quotas.h"
#include "tests/support/quota_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace sched::quota;
using tests::gpu_quota;

namespace {

constexpr Time kNow{std::chrono::seconds(1'000)};

// A ledger with one node of H100 (slot 0) and one of L4 (slot 1).
class Tree {
 public:
  explicit Tree(bool bound_cohorts = false) : ledger_(options(bound_cohorts)) {
    for (const auto& [slot, product] :
         {std::pair{NodeSlot{0}, "NVIDIA-H100-80GB-HBM3"}, std::pair{NodeSlot{1}, "NVIDIA-L4"}}) {
      const k8s::Node node = tests::node("n").gpus(8).product(product);
      classes_[slot] = ledger_.intern(facts_of(node, names_), names_);
      ledger_.node_is(slot, classes_[slot], GpuShare::gpus(64));
    }
  }
  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }
  void has(const k8s::GpuQuota& quota) { ledger_.upsert(quota); }
  QuotaId id(const std::string& namespace_) const { return ledger_.quota_of(namespace_); }

  Room room(const std::string& namespace_, std::int64_t gpus, NodeSlot on = 0) const {
    const Admission admission =
        ledger_.answers().admit(id(namespace_), Demand{.gpus = gpus}, kNoHold);
    const auto has = [&](const std::vector<ChargeClassId>& classes) {
      return std::find(classes.begin(), classes.end(), classes_[on]) != classes.end();
    };
    return has(admission.within)      ? Room::kGuaranteed
           : has(admission.borrowing) ? Room::kBorrowed
                                      : Room::kNone;
  }
  // How many GPUs the namespace may have more, one by one, and nothing is left of it.
  int most(const std::string& namespace_, NodeSlot on = 0) {
    const std::size_t before = charges_.size();
    while (room(namespace_, 1, on) != Room::kNone) use(namespace_, 1, on);
    const std::size_t got = charges_.size() - before;
    charges_.resize(before);
    return static_cast<int>(got);
  }
  Charge& use(const std::string& namespace_, std::int64_t gpus, NodeSlot on = 0) {
    charges_.push_back(std::make_unique<Charge>(
        ledger_, Charge::Pod{std::to_string(++uids_), namespace_, {}, kNow}, on,
        Demand{.gpus = gpus}));
    return *charges_.back();
  }
  void end(std::size_t charge) {
    charges_.erase(charges_.begin() + static_cast<std::ptrdiff_t>(charge));
  }
  std::string account(const std::string& quota, std::size_t line = 0) const {
    for (const QuotaId each : ledger_.quotas().by_name()) {
      if (ledger_.name_of(each) != quota) continue;
      const k8s::GpuQuota::Use use = ledger_.report().status(each, {}).quotas.at(line).use;
      return use.used.to_string() + " of " + use.guaranteed.to_string() + ", borrowed " +
             use.borrowed.to_string() + ", lent " + use.lent.to_string();
    }
    return "no such quota";
  }
  std::string condition(const std::string& quota, const std::string& type) const {
    for (const QuotaId each : ledger_.quotas().by_name()) {
      if (ledger_.name_of(each) != quota) continue;
      for (const k8s::Condition& is : ledger_.report().status(each, {}).conditions) {
        if (is.type == type) return is.status + " " + is.message;
      }
    }
    return "none";
  }
  std::string message(const std::string& namespace_, std::int64_t gpus) const {
    const QuotaId quota = id(namespace_);
    Demand demand{.gpus = gpus};
    demand.allowed.types = {gpu::parse_type_name("H100")};
    return waiting_message(ledger_.name_of(quota),
                           ledger_.answers().by_line(quota, demand, kNoHold), 0);
  }
  // Takes the news. Whether the quota is told that it may have more now, and where it stands.
  bool told_to(const std::string& namespace_) {
    const News news = ledger_.take_news();
    const QuotaId quota = id(namespace_);
    const auto pools = ledger_.answers().in_pools(quota);
    return std::find(news.accounts.begin(), news.accounts.end(), quota) != news.accounts.end() &&
           std::any_of(pools.begin(), pools.end(), [&](const InPool& in) {
             return ledger_.answers().lends(in.pool) &&
                    std::find(news.pools.begin(), news.pools.end(), in.pool) != news.pools.end();
           });
  }
  std::vector<std::unique_ptr<Charge>>& charges() { return charges_; }
  const std::array<ChargeClassId, 2>& classes() const { return classes_; }

 private:
  static Options options(bool bound_cohorts) {
    Options made;
    made.bound_cohorts = bound_cohorts;
    return made;
  }
  ResourceNames names_;
  Ledger ledger_;
  std::array<ChargeClassId, 2> classes_{};
  std::vector<std::unique_ptr<Charge>> charges_;
  std::uint64_t uids_ = 0;
};

// The quota of a namespace that is called as it is.
tests::GpuQuotaBuilder team(const std::string& name, const std::string& parent) {
  return gpu_quota(name).of(name).in_quota(parent);
}

}  // namespace

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

namespace {

// A tree of quotas at random, and what the rules say of it.
class RandomTree {
 public:
  explicit RandomTree(unsigned seed)
      : random_(seed), tree_(seed % 3 == 0), quotas_(random_, seed % 3 == 0) {
    for (const k8s::GpuQuota& quota : quotas_.objects) tree_.has(quota);
  }

  // What a quota would not give if nothing were used, it can never give.
  void compare_hopeless() const {
    const tests::QuotaRules idle = quotas_.rules.while_idle();
    for (const std::size_t leaf : quotas_.leaves) {
      for (int amount = 1; amount <= 30; ++amount) {
        INFO("quota " << leaf << ", " << amount);
        REQUIRE(tree_.ledger().answers().never_fits(tree_.id(name(leaf)), Demand{.gpus = amount}) ==
                (idle.room(leaf, amount) == Room::kNone));
      }
    }
  }

  int round() {
    int compared = 0;
    for (const std::size_t leaf : quotas_.leaves) {
      for (int amount = 1; amount <= 4; ++amount) {
        INFO("quota " << leaf << ", " << amount << " more");
        REQUIRE(tree_.room(name(leaf), amount) == quotas_.rules.room(leaf, amount));
        ++compared;
      }
    }
    for (std::size_t i = 0; i < quotas_.objects.size(); ++i) {
      const std::string used = std::to_string(quotas_.rules.in_use(i));
      REQUIRE(tree_.account(name(i)).starts_with(used + " of "));
    }
    change();
    return compared;
  }

  // A ledger that hears of the same in another order answers the same.
  void compare_with_new() {
    Tree other(quotas_.rules.bounded);
    for (const auto& [leaf, amount] : charges_) other.use(name(leaf), amount);
    std::vector<k8s::GpuQuota> quotas = quotas_.objects;
    std::shuffle(quotas.begin(), quotas.end(), random_);
    for (const k8s::GpuQuota& quota : quotas) other.has(quota);
    const Demand demand{.gpus = 1};
    for (const std::size_t leaf : quotas_.leaves) {
      const Ledger& one = tree_.ledger();
      const Ledger& two = other.ledger();
      const QuotaId a = tree_.id(name(leaf));
      const QuotaId b = other.id(name(leaf));
      REQUIRE(one.answers().by_line(a, demand, kNoHold) ==
              two.answers().by_line(b, demand, kNoHold));
      REQUIRE(one.answers().standing(a, demand, kNoHold) ==
              two.answers().standing(b, demand, kNoHold));
    }
    for (std::size_t i = 0; i < quotas.size(); ++i) {
      REQUIRE(other.account(name(i)) == tree_.account(name(i)));
    }
  }

 private:
  static std::string name(std::size_t quota) { return tests::RandomQuotas::name(quota); }
  // A pod starts where there is room (or, bound by another scheduler, where there is none), or one
  // ends.
  void change() {
    const std::size_t leaf = quotas_.leaves[random_() % quotas_.leaves.size()];
    const int amount = 1 + static_cast<int>(random_() % 3);
    if (!charges_.empty() && random_() % 3 == 0) {
      const std::size_t gone = random_() % charges_.size();
      quotas_.rules.quotas[charges_[gone].first].used -= charges_[gone].second;
      charges_.erase(charges_.begin() + static_cast<std::ptrdiff_t>(gone));
      tree_.end(gone);
    } else if (random_() % 10 == 0 || quotas_.rules.room(leaf, amount) != Room::kNone) {
      quotas_.rules.quotas[leaf].used += amount;
      charges_.emplace_back(leaf, amount);
      tree_.use(name(leaf), amount);
    }
  }

  std::mt19937 random_;
  Tree tree_;
  tests::RandomQuotas quotas_;
  std::vector<std::pair<std::size_t, int>> charges_;
};

}  // namespace

TEST_CASE("quotas in quotas give what the rules say, however they came to be as they are") {
  const int questions = static_cast<int>(tests::amount(40'000, 1'000'000));
  int asked = 0;
  for (unsigned seed = 1; asked < questions; ++seed) {
    INFO("seed " << seed);
    RandomTree tree(seed);
    tree.compare_hopeless();
    for (int round = 0; round < 60; ++round) asked += tree.round();
    tree.compare_with_new();
  }
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
