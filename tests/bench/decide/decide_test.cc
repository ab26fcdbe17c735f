#include "bench/decide/decide.h"

#include "bench/decide/churn.h"
#include "bench/decide/cluster.h"
#include "bench/decide/contention.h"
#include "bench/decide/figures.h"
#include "bench/decide/grouped.h"
#include "bench/decide/kinds.h"
#include "bench/decide/preempting.h"
#include "bench/decide/ruled.h"
#include "bench/decide/trials.h"
#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "scheduler/framework/pod_shape.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

using namespace bench::decide;

namespace {

// Pods that wait are part of the workload that scores are learned from, unless it is known.
enum class Workload { kLearned, kKnown };

Outcome outcome_of(const Scenario& scenario, Workload workload = Workload::kLearned) {
  auto configuration = sched::config::parse("", "default", plugins::registry());
  REQUIRE(configuration);
  if (workload == Workload::kKnown) configuration->engine.typical_pods.emplace();
  sched::Engine engine(std::move(configuration->profiles), configuration->engine);
  return Churn(engine, scenario).run();
}

}  // namespace

TEST_CASE("Every twenty nodes have as many of each group as it says") {
  for (const std::size_t from : {0U, 7U, 1'000U}) {
    std::array<std::size_t, kGroups.size()> count{};
    for (std::size_t i = from; i < from + 20; ++i) ++count[group_of(i)];
    for (std::size_t group = 0; group < kGroups.size(); ++group) {
      CHECK(count[group] == kGroups[group].share);
    }
  }
  CHECK(index_of(node(12'345).metadata.name) == 12'345);
}

// A label that contradicts the product would be complained of.
TEST_CASE("What the labels of a node say fits together") {
  for (std::size_t i = 0; i < 20; ++i) {
    sched::ResourceNames names;
    CHECK(sched::facts_of(node(i), names).gpu.complaints.empty());
  }
}

TEST_CASE("Kinds are as many shapes, and more of them begin with the fewer") {
  sched::ResourceNames names;
  const std::vector<Kind> many = kinds(100);
  std::set<std::string> shapes;
  for (const Kind& kind : many) shapes.insert(shape_key(shape_of(kind.pod, names)));
  CHECK(shapes.size() == 100);
  const std::vector<Kind> few = kinds(10);
  for (std::size_t i = 0; i < few.size(); ++i) CHECK(few[i].pod == many[i].pod);
}

TEST_CASE("A churn holds the load that it is given, and turns few pods away") {
  const Outcome outcome = outcome_of({.nodes = 100, .shapes = 10, .pods = 500});
  CHECK(outcome.decisions.size() == 500);
  CHECK(outcome.gpu_load > 0.84);
  CHECK(outcome.gpu_load <= 0.9);
  CHECK(outcome.refused < 50);
}

TEST_CASE("Pods that come before it is measured are counted nowhere") {
  const Outcome outcome = outcome_of({.nodes = 100, .shapes = 10, .warm_up = 300, .pods = 200});
  CHECK(outcome.decisions.size() == 200);
  CHECK(outcome.refused < 20);
  CHECK(outcome.gpu_load > 0.84);
  CHECK(outcome.gpu_load <= 0.9);
}

TEST_CASE("Pods that wait for what no node has change nothing for the others") {
  const Scenario scenario{.nodes = 60, .shapes = 10, .pods = 300};
  Scenario with_waiting = scenario;
  with_waiting.waiting = 50;
  const Outcome alone = outcome_of(scenario, Workload::kKnown);
  const Outcome among = outcome_of(with_waiting, Workload::kKnown);
  CHECK(among.decisions.size() == alone.decisions.size());
  CHECK(among.refused == alone.refused);
  CHECK(among.bound == alone.bound);
}

TEST_CASE("Pods over their quota wait, and the others are decided on among them") {
  const Outcome outcome = outcome_of(
      {.nodes = 100, .shapes = 10, .pods = 500, .waiting = 50, .waiting_for = WaitingFor::kQuota});
  CHECK(outcome.decisions.size() == 500);
  CHECK(outcome.gpu_load > 0.84);
  CHECK(outcome.gpu_load <= 0.9);
  CHECK(outcome.refused < 50);
}

TEST_CASE("What ends in quotas that contend goes to others, and all of the cohort stays in use") {
  const Scenario scenario{.nodes = 60, .shapes = 4, .pods = 100, .quotas = 12};
  auto configuration = sched::config::parse("", "default", plugins::registry());
  REQUIRE(configuration);
  sched::Engine engine(std::move(configuration->profiles), configuration->engine);
  const Outcome outcome = Contention(engine, scenario).run();
  CHECK(outcome.decisions.size() == 200);
  CHECK(outcome.refused == 0);
  CHECK(outcome.bound == 48);
  CHECK(engine.pending().unschedulable == 48);
}

TEST_CASE("The longest thousandth of the decisions is left out of their mean") {
  Outcome outcome;
  outcome.cpu_seconds = 0.5;
  outcome.decisions.assign(999, 1'000);
  outcome.decisions.push_back(1'000'000'000);
  outcome.refused = 10;
  const Figures figures = figures_of({}, outcome);
  CHECK(figures.decisions_per_second == 1e6);
  CHECK(figures.pods_per_second == 2'000);
  CHECK(figures.p50_ns == 1'000);
  CHECK(figures.p99_ns == 1'000);
  CHECK(figures.refused_share == 0.01);
}

TEST_CASE("The command prints a row for each number of nodes and shapes, and each at once") {
  std::ostringstream out;
  std::ostringstream err;
  CHECK(run({.nodes = {20, 40},
             .shapes = {1, 10},
             .warm_up = 0,
             .pods = 50,
             .output = bench::Output::kTable},
            plugins::registry(), out, err) == 0);
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  CHECK(lines(out.str()) == 1 + 4);
  CHECK(lines(err.str()) == 4);
  CHECK_THAT(err.str(), Catch::StartsWith("1 of 4: NODES 20, SHAPES 1, WAITING 0, DECISIONS/s "));
  CHECK_THAT(err.str(), Catch::Contains("\n4 of 4: NODES 40, SHAPES 10, "));
}

TEST_CASE("A file that cannot be written is said before anything is measured") {
  std::ostringstream out;
  std::ostringstream err;
  CHECK(run({.json = "/no/such/folder/figures.json"}, plugins::registry(), out, err) == 2);
  CHECK(err.str() == "decide: --json: cannot write /no/such/folder/figures.json\n");
  CHECK(out.str().empty());
}

TEST_CASE("Trials are asked of a full cluster, and some of them help") {
  auto configuration = sched::config::parse("", "default", plugins::registry());
  REQUIRE(configuration);
  const TrialFigures figures =
      run_trials(std::move(configuration->profiles), configuration->engine,
                 {.nodes = 100, .shapes = 10, .pods = 2'000, .load = 1.0, .seed = 7});
  CHECK(figures.trials == 2'000);
  CHECK(figures.pods > 100);
  CHECK(figures.helped > 0);
  CHECK(figures.helped < figures.trials);
}

TEST_CASE("pods with rules across nodes come and stay") {
  for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
    CAPTURE(kRules[rule].name);
    auto configuration = sched::config::parse("", "default", plugins::registry());
    REQUIRE(configuration);
    sched::Engine engine(std::move(configuration->profiles), configuration->engine);
    const RuledFigures figures = run_ruled(engine, rule, 40, 50);
    // No more than one to a node where they keep away from each other.
    const bool one_each = std::string(kRules[rule].name) == "anti-affinity";
    CHECK(figures.bound == (one_each ? 40 : 50));
    CHECK(figures.refused == (one_each ? 10 : 0));
    CHECK(figures.cpu_seconds > 0);
  }
}

TEST_CASE("of pods that evict each finds its victims, or none") {
  for (std::size_t kind = 0; kind < kPreemptors.size(); ++kind) {
    CAPTURE(kPreemptors[kind].name);
    auto configuration = sched::config::parse("", "default", plugins::registry());
    REQUIRE(configuration);
    const PreemptingFigures figures =
        run_preempting(std::move(configuration->profiles), configuration->engine, kind, 20, 5);
    const bool in_vain = std::string_view(kPreemptors[kind].name) == "in-vain";
    CHECK(figures.found == (in_vain ? 0 : 5));
    CHECK(figures.evicted == (in_vain ? 0 : 15));
    CHECK(figures.longest_seconds > 0);
    CHECK(figures.longest_seconds <= figures.cpu_seconds);
  }
}

TEST_CASE("groups start with all of their pods, or with none") {
  for (std::size_t kind = 0; kind < kGroupKinds.size(); ++kind) {
    CAPTURE(kGroupKinds[kind].name);
    auto configuration = sched::config::parse("", "default", plugins::registry());
    REQUIRE(configuration);
    const GroupedFigures figures =
        run_grouped(std::move(configuration->profiles), configuration->engine, kind, 200, 2);
    const std::size_t pods = kGroupKinds[kind].pods;
    // 130 of the nodes have eight GPUs.
    CHECK(figures.bound == (kGroupKinds[kind].in_vain || pods > 130 ? 0 : 2 * pods));
    CHECK(figures.longest_seconds <= figures.cpu_seconds);
  }
}
