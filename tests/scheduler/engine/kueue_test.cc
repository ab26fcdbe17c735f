// Beneath a controller that admits pods by quotas of its own, as Kueue does: a pod has a scheduling
// gate until it is admitted, and may get a node selector with its admission.
#include "tests/scheduler/engine/quota_cluster.h"

#include <chrono>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kGate = "kueue.x-k8s.io/admission";

// What waits with `pod` named first, of what was decided.
std::string told(const Texts& decided, const std::string& pod) {
  for (const std::string& each : decided) {
    if (each.starts_with(pod + " ")) return each;
  }
  return {};
}

}  // namespace

TEST_CASE("a pod that is not admitted yet takes nothing and keeps nobody waiting") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4).strict());
  s.has(in("ml", "gated", 4).priority(10).gated(kGate));
  s.now = kStart + 1h;  // nor is anything held for it
  s.has(in("ml", "admitted", 4).created_at(s.now));
  CHECK(s.decide() == Texts{"admitted → a"});
  CHECK(use(4, 4) == s.use("q"));  // nothing is pending
  s.pod_gone(in("ml", "admitted", 4));
  s.has(in("ml", "gated", 4).priority(10));
  CHECK(s.decide() == Texts{"gated → a"});
}

TEST_CASE("the flavor that comes with the admission is obeyed, and charged to its line") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(l4("b"));
  s.has(gpu_quota("q").of("ml").line("H100", 4).line("L4", 4));
  const auto pod = in("ml", "p", 1);
  s.has(PodBuilder(pod).gated(kGate));
  CHECK(s.decide().empty());
  s.has(PodBuilder(pod).selects("nvidia.com/gpu.product", kL4));
  CHECK(s.decide() == Texts{"p → b"});
  CHECK(use(4, 1) == s.use("q", 1));
}

TEST_CASE("a quota that is as large as what is admitted refuses nothing of it") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(h100("b"));
  s.has(gpu_quota("q").of("ml").line("H100", 8));
  // One job after the other is admitted when the one before it has ended, though all were made at
  // once.
  for (int job = 0; job < 6; ++job) {
    for (int i = 0; i < 4; ++i) {
      s.has(in("ml", "j" + std::to_string(job) + "-" + std::to_string(i), 2).gated(kGate));
    }
  }
  for (int job = 0; job < 6; ++job) {
    for (int i = 0; i < 4; ++i) {
      s.has(in("ml", "j" + std::to_string(job) + "-" + std::to_string(i), 2));
    }
    for (const std::string& each : s.decide()) CHECK(each.find(" → ") != std::string::npos);
    CHECK(use(8, 8) == s.use("q"));
    for (int i = 0; i < 4; ++i) {
      s.pod_gone(in("ml", "j" + std::to_string(job) + "-" + std::to_string(i), 2));
    }
  }
}

TEST_CASE("a quota that is smaller is a cap: what is admitted beyond it waits, and says so") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("cap").of("ml").line("H100", 4));
  // Two jobs of four are admitted together.
  const auto admit = [&](const std::string& name, std::chrono::seconds created) {
    s.has(in("ml", name, 1).created_at(kStart + created));
  };
  SECTION("one job after the other: the older runs, and then the younger") {
    for (const char* name : {"a-0", "a-1", "a-2", "a-3"}) admit(name, 0s);
    for (const char* name : {"b-0", "b-1", "b-2", "b-3"}) admit(name, 1s);
    Texts decided = s.decide();
    for (const char* name : {"a-0", "a-1", "a-2", "a-3"}) {
      CHECK(told(decided, name) == std::string(name) + " → a");
    }
    CHECK_THAT(told(decided, "b-0"),
               Catch::Contains("quota cap: H100 needs 1, 4 of 4 in use, first in line"));
    for (const char* name : {"a-0", "a-1", "a-2", "a-3"}) s.pod_gone(in("ml", name, 1));
    decided = s.decide();
    for (const char* name : {"b-0", "b-1", "b-2", "b-3"}) {
      CHECK(told(decided, name) == std::string(name) + " → a");
    }
  }
  SECTION("mixed: of each a part runs, the rest of both says what it waits for, for ever") {
    for (const char* name : {"a-0", "a-1"}) admit(name, 0s);
    for (const char* name : {"b-0", "b-1"}) admit(name, 1s);
    for (const char* name : {"a-2", "a-3"}) admit(name, 2s);
    for (const char* name : {"b-2", "b-3"}) admit(name, 3s);
    const Texts decided = s.decide();
    for (const char* name : {"a-2", "a-3", "b-2", "b-3"}) {
      CHECK_THAT(told(decided, name), Catch::Contains("quota cap: H100 needs 1, 4 of 4 in use"));
    }
    // Until the controller that admitted them takes one job back, as Kueue's waitForPodsReady does.
    for (const char* name : {"b-0", "b-1", "b-2", "b-3"}) s.pod_gone(in("ml", name, 1));
    CHECK(s.decide() == Texts{"a-2 → a", "a-3 → a"});
  }
}

TEST_CASE("two cohorts that lend do not wait for each other") {
  // Kueue lends the guest what the owner leaves idle, and so does the ledger: each of the two sees
  // the same pods.
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("owner").of("owner").in_cohort("c").line("H100", 4));
  s.has(gpu_quota("guest").of("guest").in_cohort("c").line("H100", 4));
  for (int i = 0; i < 8; ++i) s.has(in("guest", "g" + std::to_string(i), 1));
  CHECK(s.decide().size() == 8);
  // Kueue has evicted three of the guest's pods for the owner's, and admits these while two of them
  // still end: these have their turn before the guest's next.
  s.pod_gone(in("guest", "g0", 1));
  for (int i = 0; i < 3; ++i)
    s.has(in("owner", "o" + std::to_string(i), 1).created_at(kStart + 2s));
  s.has(in("guest", "g8", 1).created_at(kStart + 1s));
  Texts decided = s.decide();
  CHECK(told(decided, "o0") == "o0 → a");
  CHECK_THAT(told(decided, "g8"), Catch::Contains("g8 waits: quota guest: "));
  s.pod_gone(in("guest", "g1", 1));
  s.pod_gone(in("guest", "g2", 1));
  decided = s.decide();
  CHECK(told(decided, "o1") == "o1 → a");
  CHECK(told(decided, "o2") == "o2 → a");
}

TEST_CASE("without a quota for its queue, what is admitted runs, unless pods need a quota") {
  const bool needs_quota = GENERATE(false, true);
  EngineOptions options;
  if (needs_quota) options.quota.without_quota = quota::WithoutQuota::kNone;
  QuotaCluster s(std::move(options));
  s.has(h100("a"));
  // Quotas of others do not matter.
  s.has(gpu_quota("others").of("others").line("H100", 2));
  for (int i = 0; i < 4; ++i) s.has(in("ml", "j" + std::to_string(i), 2).gated(kGate));
  CHECK(s.decide().empty());
  for (int i = 0; i < 4; ++i) s.has(in("ml", "j" + std::to_string(i), 2));
  const Texts decided = s.decide();
  for (int i = 0; i < 4; ++i) {
    const std::string name = "j" + std::to_string(i);
    CHECK(told(decided, name) ==
          (needs_quota ? name + " waits: namespace ml has no GPU quota, and pods without quota get "
                                "no GPUs"
                       : name + " → a"));
  }
}

TEST_CASE("if only one of the two lends, the other refuses what it would lend") {
  QuotaCluster s;
  s.has(h100("a"));
  const auto job = [](const char* namespace_, const std::string& name) {
    return in(namespace_, name, 1);
  };
  SECTION("Kueue lends, and the quotas do not: what is borrowed there waits here") {
    s.has(gpu_quota("owner").of("owner").line("H100", 4));
    s.has(gpu_quota("guest").of("guest").line("H100", 4));
    // Kueue admits six of the guest's: two of them on what the owner leaves idle.
    for (int i = 0; i < 6; ++i) s.has(job("guest", "g" + std::to_string(i)));
    const Texts decided = s.decide();
    CHECK(told(decided, "g3") == "g3 → a");
    for (const char* name : {"g4", "g5"}) {
      CHECK_THAT(told(decided, name), Catch::Contains("quota guest: H100 needs 1, 4 of 4 in use"));
    }
    // The owner's are admitted, and find their GPUs free.
    for (int i = 0; i < 4; ++i) s.has(job("owner", "o" + std::to_string(i)));
    CHECK(s.decide().size() == 4);
    // What Kueue takes back to make room was waiting here.
    for (const char* name : {"g4", "g5"}) s.pod_gone(job("guest", name));
    CHECK(s.decide().empty());
    CHECK(use(4, 4) == s.use("guest"));
    CHECK(use(4, 4) == s.use("owner"));
  }
  SECTION("the quotas lend, and Kueue does not: what it has not admitted borrows nothing") {
    s.has(gpu_quota("owner").of("owner").in_cohort("c").line("H100", 4));
    s.has(gpu_quota("guest").of("guest").in_cohort("c").line("H100", 4));
    // Kueue admits four of the guest's six; the gates of the other two stay.
    for (int i = 0; i < 6; ++i) {
      const PodBuilder pod = job("guest", "g" + std::to_string(i));
      s.has(i < 4 ? pod : PodBuilder(pod).gated(kGate));
    }
    CHECK(s.decide().size() == 4);
    s.now = kStart + 1h;
    CHECK(s.decide().empty());
    CHECK(use(4, 4) == s.use("guest"));
    CHECK(use(4, 0) == s.use("owner"));
    // When one has ended, the next is admitted, and runs.
    s.pod_gone(job("guest", "g0"));
    s.has(job("guest", "g4"));
    CHECK(s.decide() == Texts{"g4 → a"});
  }
}
