// Quotas in quotas at random, against the rules.
#include "scheduler/quota/ledger.h"
#include "tests/scheduler/quota/quota_tree.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"
#include "tests/support/quota_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace sched::quota;
using tests::Tree;

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

  // Pods of several quotas for which something is held never wait for each other alone: while
  // nothing runs, one of them has room.
  void drain_holds() {
    std::vector<std::pair<QuotaId, Demand>> held;
    for (const std::size_t leaf : quotas_.leaves) {
      for (int i = 0; i < 2; ++i) {
        const QuotaId id = tree_.id(name(leaf));
        const Demand demand{.gpus = 1 + static_cast<std::int64_t>(random_() % 8)};
        if (tree_.ledger().answers().never_fits(id, demand)) continue;  // not in line
        if (!tree_.ledger().hold(id, demand, {tree_.classes()[0]})) continue;
        held.emplace_back(id, demand);
      }
    }
    while (!held.empty()) {
      std::set<QuotaId> seen;
      const auto next = std::find_if(held.begin(), held.end(), [&](const auto& each) {
        if (!seen.insert(each.first).second) return false;
        const Admission admission =
            tree_.ledger().answers().admit(each.first, each.second, kFirstHold);
        return admission.allows(tree_.classes()[0], true);
      });
      INFO(held.size() << " wait\n" << quotas_.rules.text());
      REQUIRE(next != held.end());
      tree_.ledger().release(next->first, kFirstHold);
      held.erase(next);
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
    tree.drain_holds();
    for (int round = 0; round < 60; ++round) asked += tree.round();
    tree.compare_with_new();
  }
}
