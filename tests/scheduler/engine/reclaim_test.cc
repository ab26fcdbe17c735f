// Reclaim: which pods are evicted, which are not, and when.
#include "tests/scheduler/engine/preempting.h"
#include "tests/support/catch.h"

#include <chrono>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

using Reclaims = Preemption::Reclaims;

constexpr const char* kNoVictims = "No preemption victims found for incoming pod";

// Each node has 8 H100s.
struct Reclaiming : Preempting {
  explicit Reclaiming(Reclaims reclaims = Reclaims::kAny, std::chrono::seconds min_runtime = {},
                      bool violates_budgets = false)
      : Preempting({.evicts_bare_pods = false,
                    .violates_budgets = violates_budgets,
                    .reclaims = reclaims,
                    .reclaim_min_runtime = min_runtime}) {}
  void shares(std::string_view name, int guaranteed) {
    has(gpu_quota(name).of(name).in_cohort("c").line("H100", guaranteed));
  }
  // Asks for GPUs, at the lowest priority.
  void asks(std::string_view namespace_, std::string_view name, int gpus) {
    has(in(namespace_, name, gpus).priority(kLow));
  }
  // A pod that runs there, for which the budget below counts.
  void runs_guarded(std::string_view namespace_, const std::string& on, int gpus,
                    std::string_view name = "guarded", int started = 0) {
    has(owned(in(namespace_, name, gpus)
                  .priority(kLow)
                  .labelled("app", "guarded")
                  .on(on)
                  .started_at(kStart + std::chrono::minutes(started))));
  }
  void lets_go(std::string_view namespace_, int allowed) {
    k8s::PodDisruptionBudget budget;
    budget.metadata.name = "b";
    budget.metadata.namespace_ = namespace_;
    budget.selector = selector({{"app", "guarded"}});
    budget.disruptions_allowed = allowed;
    apply(event::DisruptionBudgetUpserted{budget});
  }
  void check_waits(const std::string& why) {
    const Texts told = decide();
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0], Catch::Contains(" waits: ") && Catch::Contains(why));
  }
};

}  // namespace

TEST_CASE("an owner takes back what it has lent, whatever the priority of who has borrowed it") {
  const auto borrowed = [](Reclaims reclaims) {
    Reclaiming s(reclaims);
    for (const char* name : {"n1", "n2"}) s.has(h100(name));
    s.shares("a", 8);
    s.shares("b", 8);
    s.runs("a", "own", "n1", kLow, 4);
    s.runs("b", "old", "n1", kHigh, 4);
    s.runs("b", "whole", "n2", kHigh, 8);
    s.asks("a", "p", 4);
    return s.decide();
  };
  CHECK(borrowed(Reclaims::kAny) == Texts{"p gets n1 without old (reclaimed)"});
  for (const Reclaims reclaims : {Reclaims::kNever, Reclaims::kLowerPriority}) {
    const Texts told = borrowed(reclaims);
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0], Catch::Contains(kNoVictims));
  }
}

TEST_CASE("Never keeps also pods of lower priority of other quotas") {
  Reclaiming s(Reclaims::kNever);
  s.has(h100("n"));
  s.shares("a", 8);
  s.shares("b", 0);
  const k8s::Pod low = s.runs("b", "low", "n", kLow, 8);
  s.has(in("a", "p", 8).priority(kHigh));
  s.check_waits(kNoVictims);
  SECTION("but not those of its own quota") {
    s.pod_gone(low);
    REQUIRE(s.decide() == Texts{"p → n"});
    s.has(in("a", "q", 8).priority(kHigh + 1));
    CHECK(s.decide().size() == 1);
    s.has(owned(in("a", "p", 8).priority(kHigh).on("n")));
    CHECK(s.decide_within(5s) == Texts{"q gets n without p"});
  }
}

TEST_CASE("what a quota is guaranteed stays with it") {
  Reclaiming s;
  s.has(h100("n"));
  SECTION("what is left to it is its guarantee") {
    s.shares("a", 4);
    s.shares("b", 4);
    s.runs("b", "b1", "n", kHigh, 4);
    s.runs("b", "b2", "n", kHigh, 4);
    s.asks("a", "p", 4);
    CHECK(s.decide() == Texts{"p gets n without b2 (reclaimed)"});
    s.asks("a", "q", 4);
    s.check_waits(kNoVictims);
    CHECK(s.use("b") == use(4, 8, 4));
  }
  SECTION("who would borrow evicts nobody") {
    s.shares("a", 2);
    s.shares("b", 2);
    s.shares("lender", 4);
    s.runs("a", "a1", "n", kHigh, 2);
    s.runs("b", "b1", "n", kHigh, 6);
    s.asks("a", "p", 2);
    s.check_waits(
        "; cohort c has nothing more to lend, 2 more must be freed in it. preemption: 0/1 nodes "
        "are "
        "available: 1 no GPU quota after preemption.");
  }
  SECTION("a pod on more than was borrowed goes whole, and does not come back by eviction") {
    s.shares("a", 2);
    s.shares("b", 6);
    const k8s::Pod whole = s.runs("b", "whole", "n", kHigh, 8);
    s.asks("a", "p", 2);
    REQUIRE(s.decide() == Texts{"p gets n without whole (reclaimed)"});
    s.prepared(1);
    s.terminates(whole);
    s.pod_gone(whole);
    REQUIRE(s.decide() == Texts{"p → n"});
    s.has(owned(in("a", "p", 2).priority(kLow).on("n").started_at(kStart)));
    s.has(owned(in("b", "again", 8).priority(kHigh)));
    s.check_waits("cohort c has nothing more to lend, 2 more must be freed in it");
  }
}

TEST_CASE("pods on GPUs that no label says to be shared cost no more while these are away") {
  Reclaiming s;
  s.has(h100("n2"));
  s.shares("a", 4);
  s.shares("b", 8);
  const auto offers = [&](int pieces) {
    s.has(node("n1")
              .gpus(pieces)
              .product(kH100)
              .cpu("64")
              .labelled("nvidia.com/gpu.count", "4")
              .capacity("nvidia.com/gpu", "40"));
  };
  offers(40);
  for (int i = 0; i < 20; ++i) s.runs("a", "piece-" + std::to_string(i), "n1", kHigh, 1);
  s.runs("a", "whole", "n2", kLow, 2);
  s.runs("b", "b", "n2", kHigh, 6);
  REQUIRE(s.use("a").used == k8s::Quantity::of(4));
  s.has(in("b", "p", 2).priority(kLow).selects("kubernetes.io/hostname", "n2"));
  s.check_waits(kNoVictims);
  offers(0);
  s.now += 10min;  // kubelet forgets what it had only later
  CHECK(s.use("a").used == k8s::Quantity::of(4));
  for (const std::string& each : s.decide()) CHECK(each.find(" gets ") == std::string::npos);
}

TEST_CASE("only those who have borrowed from the owner's cohort lose GPUs") {
  Reclaiming s;
  s.has(h100("n"));
  s.shares("a", 8);
  SECTION("another cohort") {
    s.has(gpu_quota("other").of("other").in_cohort("d").line("H100", 2));
    s.has(gpu_quota("lends").of("lends").in_cohort("d").line("H100", 6));
    s.runs("other", "o", "n", kLow, 8);
  }
  SECTION("no quota") { s.runs("nobody", "o", "n", kLow, 8); }
  SECTION("no cohort") {
    s.runs("alone", "o", "n", kLow, 8);
    s.has(gpu_quota("alone").of("alone").line("H100", 4));
  }
  s.asks("a", "p", 8);
  s.check_waits(kNoVictims);
}

TEST_CASE("what was lent is taken back before pods of the own quota go") {
  Reclaiming s;
  for (const char* name : {"n1", "n2"}) s.has(h100(name));
  s.shares("a", 8);
  s.shares("b", 8);
  s.runs("a", "own", "n1", kLow, 4);
  s.runs("b", "full", "n1", kHigh, 4);
  s.runs("b", "borrowed", "n2", kMid, 8);
  s.has(in("a", "p", 4).priority(kMid));
  // Its own pod has a lower priority; but then its quota would not have what is its own.
  CHECK(s.decide() == Texts{"p gets n1 without full (reclaimed)"});
}

TEST_CASE("both go where one kind alone does not make room") {
  Reclaiming s;
  s.has(h100("n"));
  s.shares("a", 8);
  s.shares("b", 0);
  s.runs("a", "own", "n", kLow, 4);
  s.runs("b", "borrowed", "n", kHigh, 4);
  s.has(in("a", "p", 8).priority(kMid));
  CHECK(s.decide() == Texts{"p gets n without borrowed (reclaimed) own"});
}

TEST_CASE("departments take back what they lend, and teams what their department's others use") {
  Reclaiming s;
  for (const char* name : {"n1", "n2"}) s.has(h100(name));
  s.has(gpu_quota("D").in_cohort("c").line("H100", 8));
  s.has(gpu_quota("E").in_cohort("c").line("H100", 8));
  const auto team = [&](std::string_view name, std::string_view of, int guaranteed) {
    s.has(gpu_quota(name).of(name).in_quota(of).line("H100", guaranteed));
  };
  team("d1", "D", 4);
  team("d2", "D", 4);
  team("e1", "E", 4);
  team("e2", "E", 4);
  SECTION(
      "from the other team of the department alone, if the other department is within its own") {
    s.runs("d2", "beside", "n1", kHigh, 4);
    s.runs("d2", "beyond", "n1", kHigh, 4);
    s.runs("e1", "full", "n2", kMid, 8);  // of E, which is guaranteed them
    s.asks("d1", "p", 4);
    CHECK(s.decide() == Texts{"p gets n1 without beyond (reclaimed)"});
  }
  SECTION("nobody within its department's guarantee goes for another department") {
    s.runs("d2", "d", "n1", kHigh, 4);
    s.runs("e1", "e", "n1", kHigh, 4);
    s.runs("e1", "borrowed", "n2", kHigh, 4);  // of e2, in E
    s.runs("nobody", "o", "n2", kHigh, 4);
    s.asks("d1", "p", 4);
    s.check_waits(kNoVictims);
    SECTION("not by priority either") {
      s.has(in("d1", "q", 4).priority(kHigh + 1));
      const Texts told = s.decide();
      REQUIRE(told.size() == 1);
      // The pod without a quota is another matter.
      CHECK(told[0] == "q gets n2 without o");
    }
  }
  SECTION("from the other department, if that has borrowed") {
    s.runs("d2", "d", "n1", kHigh, 4);
    s.runs("e1", "e", "n1", kHigh, 4);
    s.runs("e1", "borrowed", "n2", kHigh, 8);
    s.asks("d1", "p", 4);
    CHECK(s.decide() == Texts{"p gets n1 without e (reclaimed)"});
  }
  SECTION("not from it, if the own department has all that it is guaranteed") {
    s.has(h100("n3"));
    s.runs("d2", "d", "n1", kHigh, 8);
    s.runs("e1", "e", "n2", kHigh, 8);
    s.runs("e2", "borrowed", "n3", kMid, 8);
    s.asks("d1", "p", 4);
    CHECK(s.decide() == Texts{"p gets n1 without d (reclaimed)"});
  }
}

TEST_CASE("who has not run long enough is not reclaimed yet") {
  Reclaiming s(Reclaims::kAny, 4min);
  s.has(h100("n"));
  s.shares("a", 8);
  s.shares("b", 0);
  k8s::Pod young = owned(in("b", "young", 8).priority(kHigh).on("n"));
  const bool has_started = GENERATE(false, true);
  if (has_started) young.status.start_time = kStart;
  s.has(young);
  s.asks("a", "p", 8);
  s.check_waits(
      "preemption: 0/1 nodes are available: 1 node(s) with pods on lent GPUs that have not run "
      "long enough.");
  if (!has_started) {
    CHECK(s.decide_within(1min) == Texts{});
    s.now += 30s;
    young.status.start_time = std::chrono::floor<std::chrono::seconds>(s.now);
    s.has(young);
  }
  const Time started = *young.status.start_time;
  CHECK(s.decide_within(1h) == Texts{"p gets n without young (reclaimed)"});
  CHECK(s.now == started + 4min);
}

TEST_CASE("a pod of lower priority is not protected by how long it has run") {
  Reclaiming s(Reclaims::kAny, 10min);
  s.has(h100("n"));
  s.shares("a", 8);
  s.shares("b", 0);
  s.runs("b", "young", "n", kLow, 8);
  s.has(in("a", "p", 8).priority(kMid));
  CHECK(s.decide() == Texts{"p gets n without young"});
}

TEST_CASE("a pod that may not preempt takes nothing back") {
  Reclaiming s;
  s.has(h100("n"));
  s.shares("a", 8);
  s.shares("b", 0);
  s.runs("b", "borrowed", "n", kLow, 8);
  k8s::Pod pod = in("a", "p", 8).priority(kLow);
  pod.spec.preemption_policy = "Never";
  s.has(pod);
  s.check_waits("not eligible due to preemptionPolicy=Never.");
}

TEST_CASE("what is taken back is taken once: the next who asks sees it") {
  Reclaiming s;
  for (const char* name : {"n1", "n2", "n3"}) s.has(h100(name));
  s.shares("a", 16);
  s.shares("b", 8);
  for (const char* name : {"n1", "n2", "n3"}) {
    s.runs("b", std::string("b-") + name, name, kHigh, 8);
  }
  for (const char* name : {"p", "q", "r"}) s.asks("a", name, 8);
  const Texts told = s.decide();
  REQUIRE(told.size() == 3);
  CHECK(told[0] == "p gets n1 without b-n1 (reclaimed)");
  CHECK(told[1] == "q gets n2 without b-n2 (reclaimed)");
  CHECK_THAT(told[2], Catch::Contains("r waits"));
}

TEST_CASE("a quota loses nothing of its guarantee where another pod is as good") {
  Reclaiming s;
  for (const char* name : {"n1", "n2"}) s.has(h100(name));
  s.shares("a", 10);
  s.shares("b", 6);
  SECTION("on one node") {
    s.runs("a", "own", "n1", kHigh, 8);
    s.runs("b", "old", "n2", kHigh, 2);
    s.runs("b", "new", "n2", kLow, 6);
    s.asks("a", "p", 2);
    CHECK(s.decide() == Texts{"p gets n2 without old (reclaimed)"});
  }
  SECTION("on another node") {
    s.runs("b", "old", "n1", kHigh, 2);
    s.runs("a", "own", "n1", kHigh, 6);
    s.runs("b", "new", "n2", kLow, 6);
    s.runs("a", "more", "n2", kHigh, 2);
    s.asks("a", "p", 2);
    CHECK(s.decide() == Texts{"p gets n1 without old (reclaimed)"});
  }
  SECTION("a larger one goes where no other makes room") {
    s.runs("a", "own", "n1", kHigh, 8);
    s.runs("b", "new", "n2", kLow, 8);
    s.asks("a", "p", 2);
    CHECK(s.decide() == Texts{"p gets n2 without new (reclaimed)"});
  }
}

TEST_CASE("who would borrow does not take over what was begun for a pod within its guarantee") {
  Reclaiming s;
  s.has(h100("n"));
  s.shares("a", 4);
  s.shares("b", 4);
  const k8s::Pod borrowed = s.runs("b", "borrowed", "n", kHigh, 8);
  s.asks("a", "p", 4);
  REQUIRE(s.decide() == Texts{"p gets n without borrowed (reclaimed)"});
  s.has(in("a", "q", 6).priority(kMid));
  s.check_waits("q waits");
  s.prepared(1);
  s.pod_gone(borrowed);
  CHECK(s.decide() == Texts{"p → n"});
}

TEST_CASE("a budget is not violated where a pod of the own quota may go") {
  Reclaiming s(Reclaims::kAny, {}, true);
  for (const char* name : {"n1", "n2"}) s.has(h100(name));
  s.shares("a", 16);
  s.shares("b", 0);
  s.runs_guarded("b", "n1", 8);
  s.lets_go("b", 0);
  s.runs("a", "own", "n2", kLow, 8);
  s.has(in("a", "p", 8).priority(kMid));
  CHECK(s.decide() == Texts{"p gets n2 without own"});
}

TEST_CASE("a pod that a budget protects does not stand before others that may go") {
  Reclaiming s;
  s.has(h100("n"));
  s.shares("a", 6);
  s.shares("b", 4);
  SECTION("where it would make room") {
    s.runs_guarded("b", "n", 4);
    s.runs("b", "other", "n", kHigh, 4);
    s.lets_go("b", 0);
    s.asks("a", "p", 4);
    CHECK(s.decide() == Texts{"p gets n without other (reclaimed)"});
  }
  SECTION("where it would not") {
    s.runs_guarded("b", "n", 2);
    s.runs("b", "other", "n", kHigh, 4);
    s.runs("a", "own", "n", kHigh, 2);
    s.lets_go("b", 0);
    s.asks("a", "p", 4);
    CHECK(s.decide() == Texts{"p gets n without other (reclaimed)"});
  }
  SECTION("where enough of those that it covers may go, the less important goes") {
    s.shares("b", 1);
    s.runs("a", "own", "n", kHigh, 5);
    s.runs_guarded("b", "n", 1, "oldest", 0);
    s.runs_guarded("b", "n", 1, "old", 1);
    s.runs_guarded("b", "n", 1, "young", 2);
    s.lets_go("b", 1);
    s.now += 5min;
    s.asks("a", "p", 1);
    CHECK(s.decide() == Texts{"p gets n without old (reclaimed)"});
  }
}

TEST_CASE(
    "a pod on borrowed GPUs goes before one of the own quota, though a lower one had borrowed") {
  Reclaiming s;
  for (const char* name : {"n1", "n2"}) s.has(h100(name));
  s.shares("a", 8);
  s.shares("b", 4);
  s.runs("a", "own", "n1", kLow, 2);
  s.runs("b", "low", "n1", kLow, 2);
  s.runs("b", "mid", "n1", kMid, 4);
  s.runs("b", "high", "n2", kHigh, 2);
  s.runs("nobody", "o", "n2", kHigh, 6);
  s.has(in("a", "p", 4).priority(kMid));
  CHECK(s.decide() == Texts{"p gets n1 without mid (reclaimed)"});
}

TEST_CASE("a pod that does not leave counts as using what it has") {
  Reclaiming s;
  for (const char* name : {"n1", "n2"}) s.has(h100(name));
  s.shares("a", 8);
  s.shares("b", 4);
  s.terminates(s.runs("b", "hangs", "n1", kHigh, 4), 2h);
  s.runs("nobody", "o", "n1", kHigh, 4);
  s.runs("b", "borrowed", "n2", kHigh, 4);
  s.runs("a", "own", "n2", kHigh, 4);
  s.asks("a", "p", 4);
  CHECK(s.decide() == Texts{"p gets n2 without borrowed (reclaimed)"});
}

TEST_CASE("a pod for which quota is held may reclaim as before") {
  Reclaiming s(Reclaims::kAny, 30min);
  s.has(h100("n"));
  s.has(gpu_quota("D").in_cohort("c").line("H100", 8));
  s.has(gpu_quota("E").in_cohort("c").line("H100", 0));
  s.has(gpu_quota("d1").of("d1").in_quota("D").line("H100", 6));
  s.has(gpu_quota("d2").of("d2").in_quota("D").line("H100", 2));
  s.has(gpu_quota("e").of("e").in_quota("E").line("H100", 0));
  s.runs("d2", "beside", "n", kHigh, 4);
  s.runs("e", "borrowed", "n", kHigh, 4);
  s.asks("d1", "p", 4);
  s.check_waits("that have not run long enough");
  while (s.now < kStart + 30min) {
    const auto wakeup = s.engine.next_wakeup();
    REQUIRE(wakeup);
    s.now = *wakeup;
    const Texts made = s.decide();
    if (s.now < kStart + 30min) {
      REQUIRE((made.empty() || made[0].starts_with("p waits")));
    } else {
      CHECK(made == Texts{"p gets n without borrowed (reclaimed)"});
    }
  }
}

TEST_CASE("how long others have run is not told to a pod that could reclaim nothing") {
  Reclaiming s(Reclaims::kAny, 10min);
  for (const char* name : {"n1", "n2"}) s.has(h100(name));
  s.shares("a", 8);
  s.shares("b", 4);
  s.runs("a", "own", "n1", kLow, 8);
  s.runs("b", "borrowed", "n2", kHigh, 8);
  s.asks("a", "p", 4);
  const Texts told = s.decide();
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("run long enough") == std::string::npos);
}
