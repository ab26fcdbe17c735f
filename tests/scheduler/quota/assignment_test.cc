#include "scheduler/quota/assignment.h"

#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <chrono>
#include <vector>

using namespace sched::quota;
using namespace std::chrono_literals;
using tests::gpu_quota;

namespace {
constexpr k8s::Timestamp kThen{1'000s};
using Overlaps = std::vector<Overlap>;
}  // namespace

TEST_CASE("a namespace is claimed by name or by its labels, and kept by the oldest") {
  Assignment assigned(Options{});
  const QuotaId a = assigned.id_of("a");
  const QuotaId b = assigned.id_of("b");
  CHECK(assigned.upsert(gpu_quota("a").of("ml").created_at(kThen + 1s)));
  CHECK(assigned.quota_of("ml") == a);
  CHECK(assigned.quota_of("other") == kUnlimitedQuota);

  CHECK(
      assigned.upsert(gpu_quota("b").selects(tests::selector({{"team", "x"}})).created_at(kThen)));
  CHECK(assigned.quota_of("ml") == a);  // its labels are not known
  CHECK(assigned.namespace_labels("ml", {{"team", "x"}}));
  CHECK(assigned.quota_of("ml") == b);
  CHECK(assigned.overlaps("a") == Overlaps{{"ml", "b"}});
  CHECK(assigned.overlaps("b") == Overlaps{});

  CHECK_FALSE(assigned.namespace_labels("ml", {{"team", "x"}}));
  CHECK(assigned.erase("b"));
  CHECK_FALSE(assigned.erase("b"));
  CHECK(assigned.quota_of("ml") == a);
}

TEST_CASE("of quotas as old as each other the first by name keeps it, whoever came first") {
  for (const bool reversed : {false, true}) {
    Assignment assigned(Options{});
    assigned.upsert(gpu_quota(reversed ? "b" : "a").of("ml").created_at(kThen));
    assigned.upsert(gpu_quota(reversed ? "a" : "b").of("ml").created_at(kThen));
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

TEST_CASE("the same object twice changes nothing") {
  Assignment assigned(Options{});
  CHECK(assigned.upsert(gpu_quota("a").of("ml")));
  CHECK_FALSE(assigned.upsert(gpu_quota("a").of("ml").generation(2).line("*", 3)));
}
