// Whatever happens to the nodes, the cache's answers are those of asking every node anew.
#include "scheduler/engine/finder/score_cache.h"

#include "scheduler/cluster/placement.h"
#include "scheduler/engine/finder/score_caches.h"
#include "scheduler/engine/finder/tie_order.h"
#include "scheduler/engine/report/fit_error.h"
#include "tests/scheduler/engine/finder/random_nodes.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>

using namespace sched;
using namespace tests;

namespace {

using Counts = std::map<std::tuple<Code, std::uint32_t, std::uint64_t>, std::size_t>;

struct Answers {
  std::size_t feasible = 0;
  std::optional<std::string> best;
  std::int64_t total = 0;
  Counts verdicts;
  std::string message;
  friend bool operator==(const Answers&, const Answers&) = default;
};

Counts counts_of(const VerdictCounts& verdicts) {
  Counts counts;
  verdicts.for_each([&](const NodeVerdict& verdict, std::size_t nodes) {
    counts[{verdict.code, verdict.filter, verdict.reasons}] = nodes;
  });
  return counts;
}

Answers cached(const ScoreCache& cache, const Nodes& nodes, const Scope& scope = {}) {
  const Best best = cache.best({.scope = scope});
  CHECK(best.feasible == cache.feasible(scope));
  Answers answers;
  answers.feasible = best.feasible;
  if (best.node != kNoSlot) {
    answers.best = nodes.name(best.node);
    answers.total = best.total;
    CHECK(best.total == cache.total(best.node, best));
  }
  answers.verdicts = counts_of(cache.verdicts(scope));
  answers.message = fit_error(nodes.size(), cache.prepared(), cache.verdicts(scope));
  VerdictCounts one_by_one;
  for (NodeSlot slot = 0; slot < nodes.slots(); ++slot) {
    if (const auto verdict = cache.verdict(slot, scope)) one_by_one.add(*verdict);
  }
  CHECK(counts_of(one_by_one) == answers.verdicts);
  return answers;
}

// By asking all nodes, in no clever way.
Answers naive(const PreparedShape& shape, const Nodes& nodes, TieBreak tie_break = {},
              Scope scope = {}) {
  const TieOrder order(tie_break, nodes);
  Answers answers;
  VerdictCounts verdicts;
  std::vector<std::optional<Extremes>> extremes(shape.scores().size());
  std::vector<NodeSlot> feasible;
  for (const auto& [name, slot] : nodes.by_name()) {
    if (!nodes.present(slot)) continue;
    NodeVerdict verdict = shape.check(nodes.view(slot));
    if (verdict.is_ok() && !scope.allows(nodes.facts(slot))) {
      verdict = {Code::kUnschedulable, NodeVerdict::kNoQuota, 1};
    }
    if (!verdict.is_ok()) {
      static const NodeUsage kNothing;
      if (shape.refuses_by_facts(verdict)) {
        CHECK_FALSE(shape.check({nodes.facts(slot), kNothing}).is_ok());
      }
      verdicts.add(verdict);
      continue;
    }
    feasible.push_back(slot);
    for (std::size_t i = 0; i < extremes.size(); ++i) {
      if (!shape.scores()[i].score) continue;
      const std::int64_t raw = shape.scores()[i].score->score(nodes.view(slot));
      if (!extremes[i]) extremes[i] = Extremes{raw, raw};
      extremes[i]->min = std::min(extremes[i]->min, raw);
      extremes[i]->max = std::max(extremes[i]->max, raw);
    }
  }
  answers.feasible = feasible.size();
  for (const NodeSlot slot : feasible) {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < extremes.size(); ++i) {
      const PreparedScore& score = shape.scores()[i];
      if (!score.score) continue;
      total += score.weight *
               normalise(score.normalisation, score.score->score(nodes.view(slot)), *extremes[i]);
    }
    if (answers.best && total < answers.total) continue;
    if (answers.best && total == answers.total && !order.before(slot, nodes.find(*answers.best))) {
      continue;
    }
    answers.best = nodes.name(slot);
    answers.total = total;
  }
  answers.verdicts = counts_of(verdicts);
  answers.message = fit_error(nodes.size(), shape, verdicts);
  return answers;
}

// The nodes' GPUs, spread over 0 … 100 between the least and the greatest.
class MostGpus final : public ScorePlugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "MostGpus"; }
  [[nodiscard]] Normalisation normalisation() const override { return Normalisation::kMinMax; }
  [[nodiscard]] std::unique_ptr<NodeScore> prepare(const PodShape&,
                                                   const PrepareContext&) const override {
    class Score final : public NodeScore {
     public:
      [[nodiscard]] std::int64_t score(const NodeView& node) const override {
        return node.allocatable(kNvidiaGpu);
      }
    };
    return std::make_unique<Score>();
  }
};

Profile few_steps(TieBreak tie_break) {
  Profile made;
  made.scheduler_name = kOurs;
  made.tie_break = tie_break;
  made.scores.push_back({.plugin = std::make_unique<MostGpus>(), .weight = 1});
  return made;
}

}  // namespace

TEST_CASE("every tie-break and the min-max scale are those of asking every node anew") {
  const unsigned nodes = GENERATE(12U, kManyNodes);
  for (const TieBreak tie_break :
       {TieBreak{TieBreak::Order::kFirstNode, 0}, TieBreak{TieBreak::Order::kShuffledNodes, 7},
        TieBreak{TieBreak::Order::kFewestGpusFirst, 0}, TieBreak{TieBreak::Order::kRandom, 7}}) {
    const Profile profile = few_steps(tie_break);
    RandomNodes world(static_cast<unsigned>(tie_break.order) + 1, nodes);
    for (unsigned i = 0; i < 2 * nodes; ++i) world.change();
    ScoreCache cache(world.nodes, profile, world.shape(), PrepareContext{world.names});
    for (int round = 0; round < 600; ++round) {
      world.change();
      cache.catch_up();
      REQUIRE(cached(cache, world.nodes) == naive(cache.prepared(), world.nodes, tie_break));
    }
  }
}

TEST_CASE("equal nodes stay in the order of names when their ranks are dealt anew") {
  const Profile profile = few_steps({TieBreak::Order::kFirstNode, 0});
  RandomNodes world(1);
  const auto add = [&](const std::string& name) {
    world.nodes.upsert(facts_of(node(name).gpus(1), world.names));
  };
  // Three come before the others, and their slots are far from each other.
  std::size_t length = 100;
  std::deque<std::string> first;
  for (int i = 0; i < 150; ++i) {
    if (i % 50 == 0) add(first.emplace_front("m" + std::string(length--, 'a')));
    add("n" + std::to_string(i));
  }
  ScoreCache cache(world.nodes, profile, world.shapes.intern(PodShape{}),
                   PrepareContext{world.names});
  cache.catch_up();
  const std::uint64_t ranked = world.nodes.ranking_version();
  // One more comes before all others, in the slot of the third that goes: with ever less space for
  // its rank.
  while (length > 0) {
    world.nodes.erase(first.back());
    first.pop_back();
    cache.catch_up();
    add(first.emplace_front("m" + std::string(length--, 'a')));
    cache.catch_up();
    REQUIRE(world.nodes.name(cache.best().node) == first.front());
  }
  CHECK(world.nodes.ranking_version() > ranked);
}

TEST_CASE("the order of shuffled nodes is the seed's, and stays") {
  RandomNodes world(1);
  for (int i = 0; i < 12; ++i) {
    world.nodes.upsert(facts_of(node("n" + std::to_string(i)).gpus(1), world.names));
  }
  const auto first = [&](std::uint64_t seed) {
    const Profile profile = few_steps({TieBreak::Order::kShuffledNodes, seed});
    ScoreCache cache(world.nodes, profile, world.shapes.intern(PodShape{}),
                     PrepareContext{world.names});
    cache.catch_up();
    return world.nodes.name(cache.best().node);
  };
  std::set<std::string> firsts;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(first(seed) == first(seed));
    firsts.insert(first(seed));
  }
  CHECK(firsts.size() > 5);
}

TEST_CASE("a random tie-break draws each of the best nodes equally often, and no other") {
  const Profile profile = few_steps({TieBreak::Order::kRandom, 3});
  RandomNodes world(9);
  ScoreCache cache(world.nodes, profile, world.shapes.intern(PodShape{}),
                   PrepareContext{world.names});
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 5; ++i) world.change();
    cache.catch_up();
    const Best best = cache.best();
    if (best.node == kNoSlot) {
      CHECK(cache.draw(1, best) == kNoSlot);
      continue;
    }
    std::map<NodeSlot, int> drawn;
    for (std::uint64_t number = 0; number < 3'000; ++number) ++drawn[cache.draw(number, best)];
    std::size_t equals = 0;
    for (const auto& [name, slot] : world.nodes.by_name()) {
      if (!cache.takes(slot) || cache.total(slot, best) != best.total) continue;
      ++equals;
      CHECK(drawn.contains(slot));
    }
    REQUIRE(drawn.size() == equals);
    for (const auto& [slot, times] : drawn) {
      CHECK(times > 3'000 / static_cast<int>(equals) * 7 / 10);
      CHECK(cache.draw(5, best) == cache.draw(5, best));
    }
  }
}

TEST_CASE("cached answers are those of asking every node anew") {
  const auto all_profiles = profiles();
  for (unsigned seed = 1; seed <= 8; ++seed) {
    RandomNodes world(seed, seed <= 6 ? 12 : kManyNodes);
    if (seed > 6) {
      for (unsigned i = 0; i < 2 * kManyNodes; ++i) world.change();
    }
    std::mt19937 random(seed);
    quota::ClassSets sets;
    const Scope two_classes{&sets, sets.intern({1, 2})};
    const Scope no_gpus{&sets, sets.intern({})};
    std::deque<ScoreCache> caches;
    for (int i = 0; i < 12; ++i) {
      caches.emplace_back(world.nodes, all_profiles[0], world.shape(), PrepareContext{world.names});
    }
    for (unsigned round = 0; round < tests::amount(300, 1'200); ++round) {
      for (unsigned i = 0; i < 1 + random() % 5; ++i) world.change();
      for (ScoreCache& cache : caches) {
        if (random() % 3 == 0) continue;  // some fall behind
        // Most are asked about a scope only later, when they know many nodes.
        const unsigned among = round < 20 ? 1 : 3;
        for (const Scope& scope : {Scope{}, two_classes, no_gpus}) {
          if (!scope.is_all() && random() % 3 >= among) continue;
          cache.catch_up(scope);
          REQUIRE(cached(cache, world.nodes, scope) ==
                  naive(cache.prepared(), world.nodes, {}, scope));
        }
      }
    }
  }
}

// Filters that ask for what a node is are passed over where it is known to pass them, the more so
// those that come after the one that refuses a full node.
TEST_CASE("a node that became another while it was full is asked anew what it is") {
  const auto all_profiles = profiles();
  for (const char* becomes : {"NVIDIA-H100-80GB-HBM3", "NVIDIA-L4"}) {
    CAPTURE(becomes);
    ResourceNames names;
    Nodes nodes;
    Shapes shapes;
    const auto upsert = [&](const char* product, const char* cpu) {
      nodes.upsert(facts_of(node("n").gpus(1).product(product).cpu(cpu), names));
    };
    const PodBuilder pod = our_pod("p").gpus(1).annotated("gpu-scheduler.io/gpu-type", "H100");
    ScoreCache cache(nodes, all_profiles[0], shapes.intern(shape_of(pod, names)),
                     PrepareContext{names});
    std::optional<Placement> full;
    const auto same_as_anew = [&] {
      cache.catch_up();
      return cached(cache, nodes) == naive(cache.prepared(), nodes);
    };
    upsert("NVIDIA-H100-80GB-HBM3", "4");
    CHECK(same_as_anew());
    full.emplace(nodes, nodes.slot_of("n"), Occupant{.claim = claim_of(shape_of(pod, names))});
    CHECK(same_as_anew());
    upsert(becomes, "5");
    CHECK(same_as_anew());
    full.reset();
    CHECK(same_as_anew());
  }
}

TEST_CASE("a cache that takes over new statistics answers like one that is made with them") {
  const auto all_profiles = profiles();
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomNodes world(seed);
    for (int i = 0; i < 40; ++i) world.change();
    const ShapeRef shape = world.shape();
    ScoreCache renewed(world.nodes, all_profiles[0], shape, PrepareContext{world.names});
    renewed.catch_up();
    for (int i = 0; i < 5; ++i) world.change();
    auto learned = std::make_shared<ClusterContext>();
    learned->version = 1;
    learned->pods = {{.cpu = 1'000, .gpus = 1, .milli = 1'000, .products = {}, .count = 9},
                     {.cpu = 2'000, .gpus = 4, .milli = 1'000, .products = {}, .count = 1}};
    learned->pods_seen = 10;
    const PrepareContext context{world.names, learned};
    REQUIRE(renewed.renew(context));
    const PreparedShape made_with_them(all_profiles[0], *shape, context);
    REQUIRE(cached(renewed, world.nodes) == naive(made_with_them, world.nodes));
    for (int i = 0; i < 5; ++i) world.change();
    renewed.catch_up();
    REQUIRE(cached(renewed, world.nodes) == naive(made_with_them, world.nodes));
  }
}

TEST_CASE("the scores of a node add up to its total") {
  const auto all_profiles = profiles();
  RandomNodes world(3);
  for (int i = 0; i < 40; ++i) world.change();
  for (int i = 0; i < 40; ++i) {
    ScoreCache cache(world.nodes, all_profiles[0], world.shape(), PrepareContext{world.names});
    cache.catch_up();
    const Best best = cache.best();
    if (best.node == kNoSlot) continue;
    std::int64_t total = 0;
    for (const PluginScore& score : cache.scores(best.node, best)) {
      total += score.score * score.weight;
    }
    CHECK(total == best.total);
  }
}

TEST_CASE("caches beyond the bound go, least recently used first, and answers stay the same") {
  const auto all_profiles = profiles();
  RandomNodes world(5);
  for (int i = 0; i < 60; ++i) world.change();
  std::vector<ShapeRef> shapes;
  for (int i = 0; i < 8; ++i) {
    shapes.push_back(
        world.shapes.intern(shape_of(our_pod("p").cpu(std::to_string(i)), world.names)));
  }
  const std::size_t one = [&] {
    ScoreCache cache(world.nodes, all_profiles[0], shapes[0], PrepareContext{world.names});
    cache.catch_up();
    return cache.memory() + ScoreCaches::memory_of(shapes[0]);
  }();
  WorkloadStatistics statistics(std::nullopt, false);
  ScoreCaches few(world.nodes, all_profiles, world.names, statistics, one * 5 / 2);
  for (int round = 0; round < 50; ++round) {
    world.change();
    for (const ShapeRef& shape : shapes) {
      const ScoreCache& cache = few.get(0, shape);
      REQUIRE(cached(cache, world.nodes) == naive(cache.prepared(), world.nodes));
      REQUIRE(few.size() <= 3);
    }
  }
  ScoreCaches none(world.nodes, all_profiles, world.names, statistics, 0);
  none.get(0, shapes[0]);
  none.get(0, shapes[1]);
  CHECK(none.size() == 1);  // the one just asked for stays
}

// Every node a raw value of its own, and fewer again: buckets lose their trees and get them back.
TEST_CASE("a score that differs from node to node is measured as by asking every node anew") {
  const unsigned draws = GENERATE(0U, 1U);
  const TieBreak tie_break{draws == 1 ? TieBreak::Order::kRandom : TieBreak::Order::kFirstNode, 7};
  const Profile profile = few_steps(tie_break);
  RandomNodes world(3);
  constexpr int kNodes = 3 * static_cast<int>(ScoreCache::kMostTrees);
  ScoreCache cache(world.nodes, profile, world.shapes.intern(PodShape{}),
                   PrepareContext{world.names});
  std::mt19937 random(1);
  for (const int different : {2, kNodes, 5, kNodes / 2, 1, kNodes, kNodes / 8}) {
    for (int i = 0; i < kNodes; ++i) {
      world.nodes.upsert(facts_of(node("n" + std::to_string(i)).gpus(i % different), world.names));
      if (random() % 4 != 0) continue;
      cache.catch_up();
      REQUIRE(cached(cache, world.nodes) == naive(cache.prepared(), world.nodes, tie_break));
      const Best best = cache.best();
      const NodeSlot drawn = cache.draw(random(), best);
      REQUIRE(cache.total(drawn, best) == best.total);
    }
  }
}
