#include "scheduler/quota/assignment.h"

#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace sched::quota;
using namespace std::chrono_literals;
using tests::gpu_quota;

namespace {
constexpr k8s::Timestamp kCreated{1'000s};
using Overlaps = std::vector<Overlap>;
}  // namespace

TEST_CASE("a namespace is claimed by name or by its labels, and kept by the oldest") {
  Assignment assigned(Options{});
  const QuotaId a = assigned.id_of("a");
  const QuotaId b = assigned.id_of("b");
  const auto selector = tests::selector({{"team", "x"}});
  CHECK(assigned.upsert(gpu_quota("a").selects(selector).created_at(kCreated + 1s)));
  CHECK(assigned.quota_of("ml") == kUndecidedQuota);
  CHECK(assigned.namespace_labels("ml", {{"team", "x"}}));
  CHECK(assigned.quota_of("ml") == a);
  CHECK(assigned.namespace_labels("other", {}));
  CHECK(assigned.quota_of("other") == kUnlimitedQuota);

  CHECK(assigned.upsert(gpu_quota("b").selects(selector).created_at(kCreated)));
  CHECK(assigned.quota_of("ml") == b);
  CHECK(assigned.overlaps(a) == Overlaps{{"ml", "b"}});
  CHECK(assigned.selecting_without_effect("ml") == std::vector{a});
  CHECK(assigned.selecting_without_effect("nowhere").empty());
  CHECK(assigned.overlaps(b) == Overlaps{});

  CHECK_FALSE(assigned.namespace_labels("ml", {{"team", "x"}}));
  CHECK(assigned.erase("b"));
  CHECK_FALSE(assigned.erase("b"));
  CHECK(assigned.quota_of("ml") == a);
}

TEST_CASE("a quota that names a namespace has it before an older one that selects it") {
  Assignment assigned(Options{});
  const QuotaId all = assigned.id_of("all");
  const QuotaId team = assigned.id_of("team");
  const QuotaId late = assigned.id_of("late");
  assigned.upsert(gpu_quota("all").selects(k8s::LabelSelector{}).created_at(kCreated));
  assigned.namespace_labels("ml", {});
  CHECK(assigned.quota_of("ml") == all);
  CHECK(assigned.upsert(gpu_quota("team").of("ml").created_at(kCreated + 1s)));
  CHECK(assigned.quota_of("ml") == team);
  CHECK(assigned.overlaps(all) == Overlaps{{"ml", "team", true}});
  // Of two that name it, the older.
  assigned.upsert(
      gpu_quota("late").of("ml").selects(k8s::LabelSelector{}).created_at(kCreated + 2s));
  CHECK(assigned.quota_of("ml") == team);
  CHECK(assigned.overlaps(late) == Overlaps{{"ml", "team"}});
  // One that names it no more has its age alone.
  CHECK(assigned.upsert(gpu_quota("team").selects(k8s::LabelSelector{}).created_at(kCreated + 1s)));
  CHECK(assigned.quota_of("ml") == late);
  CHECK(assigned.overlaps(team) == Overlaps{{"ml", "late", true}});
  CHECK(assigned.erase("late"));
  CHECK(assigned.quota_of("ml") == all);
  CHECK(assigned.overlaps(team) == Overlaps{{"ml", "all"}});
}

TEST_CASE("a namespace that is not known belongs to no quota while its labels could decide") {
  const auto selector = tests::selector({{"team", "x"}});
  struct Case {
    std::string name;
    std::vector<k8s::GpuQuota> quotas;
    bool decided = false;
  };
  const std::vector<Case> cases = {
      {"no quota", {}, true},
      {"quotas by name alone", {gpu_quota("a").of("other")}, true},
      {"a selector", {gpu_quota("a").selects(selector)}, false},
      {"a selector, and named by it as well", {gpu_quota("a").of("ml").selects(selector)}, true},
      {"named by an older one",
       {gpu_quota("a").of("ml").created_at(kCreated),
        gpu_quota("b").selects(selector).created_at(kCreated + 1s)},
       true},
      {"named by a younger one",
       {gpu_quota("a").selects(selector).created_at(kCreated),
        gpu_quota("b").of("ml").created_at(kCreated + 1s)},
       true},
  };
  for (const auto without_quota : {WithoutQuota::kUnlimited, WithoutQuota::kNone}) {
    for (const Case& c : cases) {
      INFO(c.name);
      Assignment assigned({.without_quota = without_quota, .default_quota = ""});
      for (const k8s::GpuQuota& quota : c.quotas) assigned.upsert(quota);
      CHECK((assigned.quota_of("ml") != kUndecidedQuota) == c.decided);
      // Its event is news just where it decides something.
      CHECK((assigned.namespace_labels("ml", {}) || c.decided));
      CHECK(assigned.quota_of("ml") != kUndecidedQuota);
      assigned.namespace_gone("ml");
      CHECK((assigned.quota_of("ml") != kUndecidedQuota) == c.decided);
    }
  }
}

TEST_CASE("of quotas as old as each other the first by name keeps it, whoever came first") {
  for (const bool reversed : {false, true}) {
    Assignment assigned(Options{});
    assigned.upsert(gpu_quota(reversed ? "b" : "a").of("ml").created_at(kCreated));
    assigned.upsert(gpu_quota(reversed ? "a" : "b").of("ml").created_at(kCreated));
    CHECK(assigned.quota_of("ml") == assigned.id_of("a"));
  }
}

TEST_CASE("what nobody claims follows the default") {
  Assignment none({.without_quota = WithoutQuota::kNone, .default_quota = ""});
  CHECK(none.quota_of("ml") == kNothingQuota);
  Assignment named({.without_quota = WithoutQuota::kNamed, .default_quota = "rest"});
  CHECK(named.quota_of("ml") == kNothingQuota);
  named.upsert(gpu_quota("rest"));
  CHECK(named.quota_of("ml") == named.id_of("rest"));
}

TEST_CASE("a deleted quota that keeps its namespaces selects none without effect") {
  Assignment assigned(Options{});
  assigned.upsert(gpu_quota("old").of("ml").created_at(kCreated));
  assigned.keep_deleted("old");
  assigned.upsert(gpu_quota("new").of("ml").created_at(kCreated + 1s));
  CHECK(assigned.quota_of("ml") == assigned.id_of("new"));
  CHECK(assigned.selecting_without_effect("ml").empty());
}

TEST_CASE("the same object twice changes nothing") {
  Assignment assigned(Options{});
  CHECK(assigned.upsert(gpu_quota("a").of("ml")));
  CHECK_FALSE(assigned.upsert(gpu_quota("a").of("ml").generation(2).line("*", 3)));
}

TEST_CASE("what is kept of overlaps is what a look at every namespace gives") {
  const unsigned seed = GENERATE(range(1U, 6U));
  std::mt19937 random(seed);
  const auto pick = [&](unsigned n) { return static_cast<int>(random() % n); };
  const auto name = [&](const char* kind, unsigned n) { return kind + std::to_string(pick(n)); };
  Assignment assigned(Options{});
  std::map<std::string, k8s::GpuQuota> quotas;
  std::map<std::string, std::string> teams;
  const auto names = [](const k8s::GpuQuota* quota, const std::string& namespace_) {
    const auto& all = quota->spec.namespaces;
    return std::find(all.begin(), all.end(), namespace_) != all.end();
  };
  const auto claims = [&](const k8s::GpuQuota& quota, const std::string& namespace_) {
    if (names(&quota, namespace_)) return true;
    const auto team = teams.find(namespace_);
    return quota.spec.namespace_selector && team != teams.end() &&
           quota.spec.namespace_selector->matches({{"team", team->second}});
  };
  for (int step = 0; step < 400; ++step) {
    const std::string quota = name("q", 6);
    const std::string namespace_ = name("ns", 8);
    switch (pick(6)) {
      case 0:
        assigned.erase(quota);
        quotas.erase(quota);
        break;
      case 1:
        assigned.namespace_gone(namespace_);
        teams.erase(namespace_);
        break;
      case 2:
      case 3:
        teams[namespace_] = name("t", 3);
        assigned.namespace_labels(namespace_, {{"team", teams[namespace_]}});
        break;
      default: {
        tests::GpuQuotaBuilder made = gpu_quota(quota);
        made.created_at(kCreated + std::chrono::seconds(pick(3)));
        for (int i = pick(3); i > 0; --i) made.of(name("ns", 8));
        if (pick(2) == 0) made.selects(tests::selector({{"team", name("t", 3)}}));
        quotas.insert_or_assign(quota, made);
        assigned.upsert(quotas.at(quota));
      }
    }
    std::map<std::string, Overlaps> want;
    for (int i = 0; i < 8; ++i) {
      const std::string each = "ns" + std::to_string(i);
      std::vector<const k8s::GpuQuota*> claimants;
      for (const auto& [key, one] : quotas) {
        if (claims(one, each)) claimants.push_back(&one);
      }
      std::sort(claimants.begin(), claimants.end(), [&](const auto* a, const auto* b) {
        const auto rank = [&](const k8s::GpuQuota* one) {
          return std::tuple(!names(one, each), one->metadata.creation_timestamp,
                            one->metadata.name);
        };
        return rank(a) < rank(b);
      });
      const bool undecided = !teams.contains(each) && claimants.empty() &&
                             std::any_of(quotas.begin(), quotas.end(), [&](const auto& entry) {
                               return entry.second.spec.namespace_selector.has_value();
                             });
      const QuotaId keeper =
          claimants.empty() ? kUnlimitedQuota : assigned.id_of(claimants.front()->metadata.name);
      INFO("seed " << seed << " step " << step << " " << each);
      REQUIRE(assigned.quota_of(each) == (undecided ? kUndecidedQuota : keeper));
      for (std::size_t k = 1; k < claimants.size(); ++k) {
        want[claimants[k]->metadata.name].push_back(
            {each, claimants.front()->metadata.name,
             names(claimants.front(), each) && !names(claimants[k], each)});
      }
    }
    for (const auto& [key, one] : quotas)
      REQUIRE(assigned.overlaps(assigned.id_of(key)) == want[key]);
  }
}

TEST_CASE("a namespace's labels are news to those that ask for it, not to a thousand others") {
  Assignment assigned(Options{});
  for (int i = 0; i < 1'000; ++i) {
    const std::string team = "t" + std::to_string(i);
    assigned.upsert(
        gpu_quota(team).selects(tests::selector({{"team", team}})).created_at(kCreated));
    assigned.namespace_labels("ns" + std::to_string(i), {{"team", team}});
  }
  static_cast<void>(assigned.take_changed());
  assigned.namespace_labels("ns7", {{"team", "t8"}});
  CHECK(assigned.take_changed() == std::set{assigned.id_of("t7"), assigned.id_of("t8")});
  assigned.namespace_labels("ns7", {{"team", "t8"}, {"more", ""}});
  CHECK(assigned.take_changed().empty());
}
