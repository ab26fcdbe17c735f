// Advice about MIG configurations, through the engine.
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <chrono>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

NodeBuilder mig_h100(std::string_view name, int gpus = 1) {
  return node(name)
      .product("NVIDIA-H100-80GB-HBM3")
      .labelled("nvidia.com/gpu.count", std::to_string(gpus))
      .labelled("nvidia.com/mig.strategy", "mixed")
      .labelled("nvidia.com/mig.config", "all-disabled")
      .labelled("nvidia.com/mig.config.state", "success")
      .gpus(gpus);
}

PodBuilder instance(std::string_view name, const char* profile = "3g.40gb") {
  return our_pod(name).requests(std::string("nvidia.com/mig-") + profile, "1");
}

// What is advised when the pod has been refused: "n should become all-3g.40gb".
Texts advised(Scheduler& s) {
  Texts advice;
  for (const std::string& word : s.decide()) {
    if (word.find(" should become ") != std::string::npos) advice.push_back(word);
  }
  return advice;
}

// How many pods the advice names.
std::size_t named(Scheduler& s) {
  std::size_t pods = 0;
  for (const Decision& decision : s.decisions()) {
    const auto* advice = std::get_if<decision::MigRepartition>(&decision);
    if (advice != nullptr) pods += advice->pods.size();
  }
  return pods;
}

}  // namespace

TEST_CASE("pods that wait for a profile make advice for an idle node") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("n"));
  s.has(instance("a"));
  s.has(instance("b"));
  s.has(instance("c"));
  const auto decisions = s.decisions();
  REQUIRE(decisions.size() == 4);
  CHECK(std::get<decision::MigRepartition>(decisions.back()) ==
        decision::MigRepartition{
            .scheduler_name = kOurs,
            .node = "n",
            .from = "all-disabled",
            .to = "all-3g.40gb",
            .pods = {Scheduler::ref(instance("a")), Scheduler::ref(instance("b"))},
            .cost = "1 nvidia.com/gpu that no pod uses, and minutes in which the node offers no "
                    "GPU"});
  CHECK(s.engine.gpu_figures() == GpuFigures{.repartitions = 1, .repartition_pods = 2});
}

TEST_CASE(
    "what it costs is said: on Ampere, a reset too; where GPUs are partitioned, the instances") {
  Scheduler s;
  s.synced();
  const auto cost = [&](const k8s::Node& node) {
    s.has(node);
    s.has(instance("a"));
    const auto decisions = s.decisions();
    const auto* advice = std::get_if<decision::MigRepartition>(&decisions.back());
    return advice == nullptr ? std::string() : advice->cost;
  };
  SECTION("Ampere") {
    CHECK(cost(mig_h100("n").product("NVIDIA-A100-SXM4-80GB")) ==
          "1 nvidia.com/gpu that no pod uses, a reset of its GPUs, and minutes in which the node "
          "offers no GPU");
  }
  SECTION("partitioned already") {
    CHECK(cost(mig_h100("n").gpus(0).offers("nvidia.com/mig-1g.10gb", "7")) ==
          "7 nvidia.com/mig-1g.10gb that no pod uses, and minutes in which the node offers no GPU");
  }
  SECTION("Ampere, partitioned already: it needs no reset again") {
    CHECK(cost(mig_h100("n")
                   .product("NVIDIA-A100-SXM4-80GB")
                   .gpus(0)
                   .offers("nvidia.com/mig-1g.10gb", "7")) ==
          "7 nvidia.com/mig-1g.10gb that no pod uses, and minutes in which the node offers no GPU");
  }
  SECTION("nothing") {
    CHECK(cost(mig_h100("n").gpus(0)) ==
          "nothing that is offered now, and minutes in which the node offers no GPU");
  }
}

TEST_CASE("only nodes that could be repartitioned, and would take the pod then") {
  struct Case {
    const char* name;
    k8s::Node node;
    bool want;
  };
  const std::vector<Case> cases = {
      {"as it should be", mig_h100("n"), true},
      {"strategy single", mig_h100("n").labelled("nvidia.com/mig.strategy", "single"), false},
      {"strategy none", mig_h100("n").labelled("nvidia.com/mig.strategy", "none"), false},
      {"no word of its GPUs' number", mig_h100("n").labelled("nvidia.com/gpu.count", ""), false},
      {"an absurd number", mig_h100("n").labelled("nvidia.com/gpu.count", "4000000000"), false},
      {"no number", mig_h100("n").labelled("nvidia.com/gpu.count", "eight"), false},
      {"more than the label says", mig_h100("n").gpus(8), false},
      {"a GPU without MIG", mig_h100("n").product("NVIDIA-L4"), false},
      {"a GPU without that profile", mig_h100("n").product("NVIDIA-A100-SXM4-40GB"), false},
      {"a change under way", mig_h100("n").labelled("nvidia.com/mig.config.state", "pending"),
       false},
      {"partitioned, and not offered yet",
       mig_h100("n").gpus(0).labelled("nvidia.com/mig.config", "all-1g.10gb"), false},
      {"unhealthy", mig_h100("n").condition("XIDErrors", "True"), false},
      {"cordoned", mig_h100("n").cordoned(), false},
      {"not tolerated", mig_h100("n").tainted("team"), false},
      {"too few CPUs besides", mig_h100("n").cpu("1"), false},
      {"partitioned like that already, and full elsewhere",
       mig_h100("n").labelled("nvidia.com/mig.config", "all-3g.40gb"), true}};
  for (const Case& each : cases) {
    INFO(each.name);
    Scheduler s;
    s.synced();
    s.has(each.node);
    s.has(instance("a").cpu("4"));
    CHECK(advised(s).size() == (each.want ? 1 : 0));
  }
}

TEST_CASE("a node that is repartitioned keeps its labels, but for those of its instances") {
  struct Case {
    const char* selected;
    const char* value;
    bool want;
  };
  const Case cases[] = {{"rack", "r1", true},
                        {"rack", "r2", false},
                        {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3", true},
                        {"nvidia.com/mig.config", "all-3g.40gb", true},
                        {"nvidia.com/mig.config", "all-1g.10gb", false},
                        {"nvidia.com/mig-1g.10gb.count", "7", false}};
  for (const Case& each : cases) {
    INFO(each.selected << ": " << each.value);
    Scheduler s;
    s.synced();
    s.has(mig_h100("n")
              .labelled("rack", "r1")
              .labelled("nvidia.com/mig.config", "all-1g.10gb")
              .labelled("nvidia.com/mig-1g.10gb.count", "7")
              .gpus(0)
              .offers("nvidia.com/mig-1g.10gb", "7"));
    s.has(instance("a").selects(each.selected, each.value));
    CHECK(advised(s).size() == (each.want ? 1 : 0));
  }
}

TEST_CASE(
    "a node is repartitioned as its labels were before GPU feature discovery took them back") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("n")
            .labelled("nvidia.com/gpu.sharing-strategy", "none")
            .labelled("nvidia.com/mig-1g.10gb.count", "7"));
  s.has(node("n").labelled("nvidia.com/mig.config", "all-disabled").gpus(1));
  SECTION("it counts as labelled then") {
    s.has(instance("a").selects("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"));
    CHECK(advised(s).size() == 1);
  }
  SECTION("but for its instances") {
    s.has(instance("a").selects("nvidia.com/mig-1g.10gb.count", "7"));
    CHECK(advised(s).empty());
  }
}

TEST_CASE("a node that carries a GPU pod is left alone, whoever placed it") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("n", 8));
  s.has(their_pod("theirs").gpus(1).on("n"));
  s.has(instance("a"));
  CHECK(advised(s).empty());
  s.pod_gone(their_pod("theirs"));
  s.now += 10s;
  CHECK(advised(s) == Texts{"n should become all-3g.40gb"});
}

TEST_CASE("where no idle node helps, the one is named whose pods are worth draining") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("one", 2));
  s.has(mig_h100("two", 2));
  s.has(their_pod("a").gpus(1).on("one"));
  s.has(their_pod("b").gpus(1).on("one"));
  s.has(their_pod("c").gpus(2).on("two"));
  s.has(instance("waits-1"));
  CHECK(advised(s).empty());  // one to go for each that would be placed
  for (const char* name : {"waits-2", "waits-3", "waits-4", "waits-5"}) s.has(instance(name));
  s.now += 10s;
  std::vector<decision::MigRepartition> advice;
  for (const Decision& decision : s.decisions()) {
    if (const auto* each = std::get_if<decision::MigRepartition>(&decision)) {
      advice.push_back(*each);
    }
  }
  REQUIRE(advice.size() == 1);
  CHECK(advice[0].node == "two");
  CHECK(advice[0].to_go == 1);
  CHECK(advice[0].pods.size() == 4);
  CHECK(advice[0].cost ==
        "2 nvidia.com/gpu, with 1 pod(s) on them, and minutes in which the node offers no GPU");
  // An idle node comes first, and what it places needs no other.
  s.has(mig_h100("idle", 1));
  s.now += 10s;
  CHECK(advised(s) ==
        Texts{"idle should become all-3g.40gb", "two should become all-3g.40gb, without 1 pods"});
  s.has(mig_h100("idle-2", 2));
  s.now += 10s;
  CHECK(advised(s) == Texts{"idle-2 should become all-3g.40gb", "idle should become all-3g.40gb"});
}

TEST_CASE("a network device of NVIDIA's is no GPU: it stays, and who holds one does no harm") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("n").offers("nvidia.com/hostdev", "2"));
  s.has(their_pod("theirs").requests("nvidia.com/hostdev", "1").on("n"));
  s.has(instance("a").requests("nvidia.com/hostdev", "1"));
  CHECK(advised(s) == Texts{"n should become all-3g.40gb"});
}

TEST_CASE("advice is looked for at most once per interval, after a change, and told once") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("n"));
  s.has(instance("a"));
  CHECK(advised(s).size() == 1);
  CHECK(advised(s).empty());
  s.has(instance("b"));
  CHECK(advised(s).empty());
  CHECK(s.engine.next_wakeup() == s.now + 10s);
  s.now += 10s;
  CHECK(advised(s) == Texts{"n should become all-3g.40gb"});  // says more than before
  s.now += 10s;
  CHECK(advised(s).empty());
  CHECK(s.engine.next_wakeup() > s.now + 10s);  // nothing to look for: the pods' own next try
}

TEST_CASE("advice that is followed is gone") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("n"));
  s.has(instance("a"));
  REQUIRE(advised(s).size() == 1);
  s.has(mig_h100("n")
            .labelled("nvidia.com/mig.config", "all-3g.40gb")
            .gpus(0)
            .offers("nvidia.com/mig-3g.40gb", "2"));
  s.now += 10s;
  CHECK(s.decide() == Texts{"a → n"});
  CHECK(s.engine.gpu_figures() == GpuFigures{});
}

TEST_CASE("pods that wait for whole GPUs get no advice") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("n").gpus(0).offers("nvidia.com/mig-3g.40gb", "2"));
  s.has(our_pod("a").gpus(1));
  CHECK(advised(s).empty());
  CHECK(s.engine.gpu_figures() == GpuFigures{});
}

TEST_CASE("advice is looked for anew when a pod that waits asks for something else") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("n"));
  s.has(instance("a"));
  REQUIRE(advised(s) == Texts{"n should become all-3g.40gb"});
  s.now += 10s;
  s.has(instance("a", "1g.10gb"));
  CHECK(advised(s) == Texts{"n should become all-1g.10gb"});
}

TEST_CASE("advice is looked for anew when a quota has grown") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("n"));
  s.apply(event::QuotaUpserted{gpu_quota("q").of("default").line("H100", "100m")});
  s.has(instance("a"));
  CHECK(advised(s).empty());
  k8s::GpuQuota grown = gpu_quota("q").of("default").line("H100", 1);
  grown.metadata.generation = 2;
  s.now += 10s;
  s.apply(event::QuotaUpserted{grown});
  CHECK(advised(s) == Texts{"n should become all-3g.40gb"});
}

TEST_CASE("of idle nodes that are alike eight are looked at") {
  Scheduler s;
  s.synced();
  for (int i = 0; i < 9; ++i) s.has(mig_h100("n" + std::to_string(i)));
  for (int i = 0; i < 18; ++i) s.has(instance("p" + std::to_string(i)));
  CHECK(advised(s).size() == 8);
}

TEST_CASE("of nodes that are alike and have pods eight are looked at") {
  const int of_no_use = GENERATE(7, 8);
  Scheduler s;
  s.synced();
  const auto busy = [&](const std::string& name, bool tainted) {
    NodeBuilder made = mig_h100(name);
    if (tainted) made.tainted("team");
    s.has(made);
    s.has(their_pod("on-" + name).gpus(1).on(name));
  };
  for (int i = 0; i < of_no_use; ++i) busy("n" + std::to_string(i), true);
  busy("z", false);
  for (int i = 0; i < 2; ++i) s.has(instance("p" + std::to_string(i)));
  CHECK(advised(s).size() == (of_no_use == 7 ? 1 : 0));
}

TEST_CASE("of the pods that wait 64 are looked at, and 32 of those that ask for the same") {
  Scheduler s;
  s.synced();
  for (int i = 0; i < 7; ++i) s.has(mig_h100("n" + std::to_string(i), 8));
  const auto pods = [&](const char* profile) {
    for (int i = 0; i < 33; ++i) {
      s.has(instance(std::string(profile) + "-" + std::to_string(i), profile));
    }
    s.now += 10s;
    static_cast<void>(s.decide());
    return s.engine.gpu_figures().repartition_pods;
  };
  CHECK(pods("3g.40gb") == 32);
  CHECK(pods("1g.10gb") == 64);
  CHECK(pods("2g.20gb") == 64);
}

TEST_CASE("no node is named whose GPUs the pod's quota does not give") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("a")
            .product("NVIDIA-A100-SXM4-80GB")
            .labelled("nvidia.com/mig.config", "all-1g.10gb")
            .gpus(0)
            .offers("nvidia.com/mig-1g.10gb", "7"));
  s.has(their_pod("theirs").requests("nvidia.com/mig-1g.10gb", "7").on("a"));
  const std::string strategy = GENERATE("mixed", "single");
  s.has(mig_h100("h").labelled("nvidia.com/mig.strategy", strategy));
  s.apply(event::QuotaUpserted{gpu_quota("q").of("default").line("A100-80GB", 4)});
  const auto wants = [&](std::string_view name) {
    PodBuilder pod = our_pod(name);
    return strategy == "mixed"
               ? pod.requests("nvidia.com/mig-1g.10gb", "1")
               : pod.gpus(1).selects("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb");
  };
  s.has(wants("waits"));
  CHECK(advised(s).empty());
  k8s::GpuQuota grown = gpu_quota("q").of("default").line("A100-80GB", 4).line("H100", 1);
  grown.metadata.generation = 2;
  s.now += 10s;
  s.apply(event::QuotaUpserted{grown});
  CHECK(advised(s) == Texts{"h should become all-1g.10gb"});
}

TEST_CASE("no more pods are named than their quota has room for, on all nodes together") {
  Scheduler s;
  s.synced();
  SECTION("on one node") { s.has(mig_h100("n", 2)); }
  SECTION("on two") {
    s.has(mig_h100("n"));
    s.has(mig_h100("o"));
  }
  // One H100 is 8 instances of 1g.10gb: its memory slices.
  s.apply(event::QuotaUpserted{gpu_quota("q").of("default").line("H100", 1)});
  for (int i = 0; i < 14; ++i) s.has(instance("waits-" + std::to_string(i), "1g.10gb"));
  CHECK(named(s) == 8);
}

TEST_CASE("pods that must end first do not count against the quota of those that are named") {
  Scheduler s;
  s.synced();
  s.has(mig_h100("n", 2));
  s.apply(event::QuotaUpserted{gpu_quota("q").of("default").line("H100", 3)});
  s.has(their_pod("theirs").gpus(2).on("n"));
  for (int i = 0; i < 4; ++i) s.has(instance("waits-" + std::to_string(i)));
  CHECK(named(s) == 4);  // two GPUs, where one is left
}

TEST_CASE("instances are advised for no pod that must not pass another, until that is gone") {
  const bool told_of_turn = GENERATE(false, true);
  Scheduler s;
  s.synced();
  s.has(mig_h100("n"));
  s.apply(event::QuotaUpserted{gpu_quota("q").of("default").line("H100", 16).strict()});
  s.has(instance("waits"));
  REQUIRE(advised(s) == Texts{"n should become all-3g.40gb"});
  const k8s::Pod first = our_pod("first").gpus(8).priority(10);
  s.has(first);
  s.now += told_of_turn ? 400s : 10s;
  static_cast<void>(s.decide());
  CHECK(s.engine.gpu_figures().repartition_pods == 0);
  s.pod_gone(first);
  s.now += 10s;
  CHECK(advised(s) == Texts{"n should become all-3g.40gb"});
}

TEST_CASE("the pods of a Strict quota that are named are the first in line") {
  const bool strict = GENERATE(false, true);
  Scheduler s;
  s.synced();
  s.has(mig_h100("n"));
  GpuQuotaBuilder quota = gpu_quota("q").of("default").line("H100", 16);
  if (strict) quota.strict();
  s.apply(event::QuotaUpserted{quota});
  s.has(instance("first", "7g.80gb"));
  for (int i = 0; i < 7; ++i) s.has(instance("behind-" + std::to_string(i), "1g.10gb"));
  const std::string to = strict ? "all-7g.80gb" : "all-1g.10gb";
  CHECK(advised(s) == Texts{"n should become " + to});
}
