// Whatever happens to the nodes, the cache's answers are those of asking every node anew.
#include "scheduler/engine/finder/score_cache.h"

#include "scheduler/cluster/placement.h"
#include "scheduler/engine/finder/score_caches.h"
#include "scheduler/engine/finder/tie_order.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/report/ruled_out.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

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

// So many that a few changes are taken in one by one; among a dozen two make everything be looked
// at anew.
constexpr unsigned kManyNodes = 120;

// Nodes and claims that change at random.
class RandomNodes {
 public:
  explicit RandomNodes(unsigned seed, unsigned size = 12) : random_(seed), size_(size) {}

  void change() {
    switch (random_() % 8) {
      case 0:
      case 1:
        return upsert_node();
      case 2:
        return nodes.erase(some_name());
      case 3:
      case 4:
        return give_up_claim();
      default:
        return claim();
    }
  }
  ShapeRef shape() {
    PodBuilder pod = our_pod("p").gpus(static_cast<int>(random_() % 5));
    if (random_() % 2 == 0) pod.cpu(std::to_string(random_() % 4));
    if (random_() % 3 == 0) pod.selects("zone", "z1");
    if (random_() % 4 == 0) pod.tolerates("team");
    if (random_() % 5 == 0) pod.host_port(80);
    if (random_() % 4 == 0) pod.annotated("gpu-scheduler.io/gpu-type", "H100");
    if (random_() % 4 == 0) pod.annotated("gpu-scheduler.io/sharing", "never");
    if (random_() % 6 == 0) pod.requires_nodes({named({"n3"}), named({"n4"})});
    if (random_() % 2 == 0) {
      pod.prefers_nodes(20, term({label("zone").in({"z1"})}));
      pod.prefers_nodes(30, term({label("rank").greater_than("1")}));
    }
    return shapes.intern(shape_of(pod, names));
  }

  ResourceNames names;
  Nodes nodes;
  Shapes shapes;

 private:
  std::string some_name() { return "n" + std::to_string(random_() % size_); }

  void upsert_node() {
    NodeBuilder made = node(some_name());
    made.gpus(static_cast<int>(random_() % 5)).cpu(std::to_string(1 + random_() % 6));
    if (random_() % 2 == 0) made.labelled("zone", "z" + std::to_string(random_() % 2));
    if (random_() % 2 == 0) made.labelled("rank", std::to_string(random_() % 4));
    if (random_() % 5 == 0) made.cordoned();
    // What filters refuse that come after those which ask for what is taken.
    if (random_() % 2 == 0)
      made.product(random_() % 2 == 0 ? "NVIDIA-H100-80GB-HBM3" : "NVIDIA-L4");
    if (random_() % 4 == 0) made.labelled("nvidia.com/gpu.sharing-strategy", "time-slicing");
    if (random_() % 4 == 0) made.labelled("nvidia.com/mig.config.state", "pending");
    if (random_() % 4 == 0) made.tainted("team", "a");
    for (unsigned i = 0; i < random_() % 3; ++i) {
      made.tainted("soft" + std::to_string(i), "", k8s::TaintEffect::kPreferNoSchedule);
    }
    NodeFacts facts = facts_of(made, names);
    facts.charge_class = random_() % 4;
    nodes.upsert(std::move(facts));
  }
  void claim() {
    PodBuilder pod = our_pod("q").gpus(static_cast<int>(random_() % 3)).cpu("1");
    if (random_() % 3 == 0) pod.host_port(80);
    claims_.emplace_back();
    claims_.back().emplace(nodes, nodes.slot_of(some_name()),
                           Occupant{.claim = claim_of(shape_of(pod, names))});
  }
  void give_up_claim() {
    if (!claims_.empty()) claims_[random_() % claims_.size()].reset();
  }

  std::mt19937 random_;
  unsigned size_;
  std::deque<std::optional<Placement>> claims_;
};

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
    for (int round = 0; round < 600; ++round) {
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

TEST_CASE("large shapes take as much of the bound as they hold") {
  const auto all_profiles = profiles();
  RandomNodes world(5);
  for (int i = 0; i < 10; ++i) world.change();
  WorkloadStatistics statistics(std::nullopt, false);
  ScoreCaches caches(world.nodes, all_profiles, world.names, statistics, std::size_t{10} << 20);
  // Each some 100 kB, and half a megabyte with what is made of it: twenty fill the bound.
  for (int i = 0; i < 100; ++i) {
    std::vector<std::string> values;
    for (int k = 0; k < 2'000; ++k) values.push_back(std::string(40, 'v') + std::to_string(k));
    values.push_back(std::to_string(i));
    const PodBuilder pod = our_pod("p").requires_nodes({term({label("zone").in(values)})});
    caches.get(0, world.shapes.intern(shape_of(pod, world.names)));
    REQUIRE(caches.size() <= 25);
    REQUIRE(world.shapes.size() <= 25);  // what is dropped holds nothing any more
  }
  CHECK(caches.size() > 10);
}

TEST_CASE("on few nodes what the shapes themselves take bounds their number") {
  const auto all_profiles = profiles();
  RandomNodes world(5);
  for (int i = 0; i < 10; ++i) world.change();
  WorkloadStatistics statistics(std::nullopt, false);
  ScoreCaches caches(world.nodes, all_profiles, world.names, statistics, std::size_t{1} << 20);
  std::vector<ShapeRef> shapes;
  for (int i = 1; i <= 1'000; ++i) {
    shapes.push_back(world.shapes.intern(
        shape_of(our_pod("p").gpus(100).cpu(std::to_string(i) + "m"), world.names)));
    caches.get(0, shapes.back());
    REQUIRE(caches.size() <= (std::size_t{1} << 20) / ScoreCaches::kMemoryOfShape);
  }
  CHECK(caches.size() > 50);
}

TEST_CASE("of shapes that no node takes that much is kept when the nodes' answers have to go") {
  const auto all_profiles = profiles();
  RandomNodes world(7);
  const auto has = [&](int number, int gpus) {
    world.nodes.upsert(facts_of(node("n" + std::to_string(number)).gpus(gpus), world.names));
  };
  for (int i = 0; i < 6'000; ++i) has(i, 2);
  WorkloadStatistics statistics(std::nullopt, false);
  ScoreCaches caches(world.nodes, all_profiles, world.names, statistics, std::size_t{400} << 10);
  std::vector<ShapeRef> shapes;
  for (int gpus = 1; gpus <= 20; ++gpus) {
    shapes.push_back(world.shapes.intern(shape_of(our_pod("p").gpus(gpus + 1), world.names)));
    caches.get(0, shapes.back());
  }
  // The first fits: of it nothing is kept.
  CHECK(caches.size() + caches.refused() == 19);
  const auto known = [&] {
    std::set<int> gpus;
    for (int i = 0; i < 20; ++i) {
      if (caches.known_refusal(0, shapes[static_cast<std::size_t>(i)])) gpus.insert(i + 2);
    }
    return gpus;
  };
  std::set<int> want;
  for (int gpus = 3; gpus < 3 + static_cast<int>(caches.refused()); ++gpus) want.insert(gpus);
  REQUIRE(want.size() > 10);
  CHECK(known() == want);
  has(3, 1);
  CHECK(known() == want);
  has(3, 5);
  for (const int fits : {3, 4, 5}) want.erase(fits);
  CHECK(known() == want);
  world.nodes.erase("n3");
  has(20'000, 7);
  for (const int fits : {6, 7}) want.erase(fits);
  CHECK(known() == want);
  // Once all is kept of it again, that tells.
  caches.get(0, shapes[6]);
  CHECK_FALSE(caches.known_refusal(0, shapes[6]));
}

TEST_CASE("how all nodes refuse a shape is known with and without the nodes' answers") {
  const auto all_profiles = profiles();
  RandomNodes world(7);
  const auto has = [&](const NodeBuilder& node) {
    world.nodes.upsert(facts_of(node, world.names));
  };
  std::deque<Placement> taken;
  const Claim one = claim_of(shape_of(our_pod("q").gpus(1), world.names));
  for (int i = 0; i < 6'000; ++i) {
    const std::string name = "n" + std::to_string(i);
    has(node(name).gpus(2));
    taken.emplace_back(world.nodes, world.nodes.find(name), Occupant{.claim = one});
  }
  WorkloadStatistics statistics(std::nullopt, false);
  ScoreCaches caches(world.nodes, all_profiles, world.names, statistics, std::size_t{400} << 10);
  const auto intern = [&](const PodBuilder& pod) {
    return world.shapes.intern(shape_of(pod, world.names));
  };
  const ShapeRef choosy = intern(our_pod("p").gpus(1).selects("pool", "own"));
  const ShapeRef large = intern(our_pod("p").gpus(3));
  const ShapeRef crowded = intern(our_pod("p").gpus(2));
  const ShapeRef fits = intern(our_pod("p").gpus(1));
  CHECK(caches.get(0, choosy).refused_by() == RefusedBy::kFacts);
  CHECK(caches.get(0, large).refused_by() == RefusedBy::kFacts);
  CHECK(caches.get(0, crowded).refused_by() == RefusedBy::kUsage);
  CHECK(caches.get(0, fits).refused_by() == std::nullopt);
  for (int gpus = 4; gpus <= 20; ++gpus) caches.get(0, intern(our_pod("p").gpus(gpus)));
  CHECK(caches.known_refusal(0, choosy) == RefusedBy::kFacts);
  CHECK(caches.known_refusal(0, large) == RefusedBy::kFacts);
  CHECK(caches.known_refusal(0, crowded) == RefusedBy::kUsage);
  CHECK(caches.known_refusal(0, fits) == std::nullopt);
  // A node that would take it but for its pods.
  has(node("n7").gpus(1).labelled("pool", "own"));
  CHECK(caches.known_refusal(0, choosy) == RefusedBy::kUsage);
  CHECK(caches.get(0, choosy).refused_by() == RefusedBy::kUsage);
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

namespace {

NodeSlot some_slot(const Nodes& nodes, std::mt19937& random) {
  return static_cast<NodeSlot>(random() % nodes.slots());
}

// Of zones, of ranks, and of single nodes.
Ruling some_ruling(const Nodes& nodes, std::mt19937& random) {
  const auto some_nodes = [&](std::size_t most) {
    std::set<NodeSlot> some;
    for (std::size_t i = random() % (most + 1); i > 0; --i) some.insert(some_slot(nodes, random));
    return std::vector<NodeSlot>(some.begin(), some.end());
  };
  Ruling ruling;
  for (const char* key : {"zone", "rank"}) {
    if (random() % 2 == 0) continue;
    const auto domains = std::make_shared<DomainIndex>(nodes, key);
    domains->catch_up();
    ruling.add(
        {.plugin = key, .reason = key},
        Ruling::ByDomain{domains, {random() % 2 == 0, random() % 2 == 0}, random() % 2 == 0});
  }
  ruling.add({.plugin = "named", .reason = "out"}, some_nodes(4), std::nullopt);
  if (random() % 4 == 0) ruling.add({.plugin = "named", .reason = "many"}, some_nodes(99), {});
  if (random() % 4 == 0) ruling.add({.plugin = "named", .reason = "others"}, {}, some_nodes(4));
  return ruling;
}

}  // namespace

TEST_CASE("nodes that take a shape are counted by what a ruling says of them, as one by one") {
  const auto all_profiles = profiles();
  quota::ClassSets sets;
  int by_kind_alone = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    RandomNodes world(seed, 1'200);
    for (unsigned i = 0; i < 4'800; ++i) world.change();
    std::mt19937 random(seed);
    // Most of the others refuse so many nodes, or score them so differently, that there are few
    // nodes of a kind.
    const ShapeRef shape =
        seed % 2 == 0 ? world.shape()
                      : world.shapes.intern(shape_of(our_pod("p").tolerates("team"), world.names));
    ScoreCache cache(world.nodes, all_profiles[0], shape, PrepareContext{world.names});
    const Ruling ruling = some_ruling(world.nodes, random);
    if (random() % 4 != 0) cache.split_by(ruling);
    const Scope scope = random() % 2 == 0 ? Scope{} : Scope{&sets, sets.intern({1, 3})};
    cache.catch_up(scope);
    Trial trial(world.nodes);
    const NodeSlot touched = some_slot(world.nodes, random);
    if (world.nodes.present(touched)) trial.add(touched, Occupant{});

    RuledOut by_kind(ruling);
    std::size_t kinds = 0;
    std::size_t in_kinds = 0;
    cache.for_each_kind({.scope = scope, .ruling = &ruling, .trial = &trial},
                        [&](NodeSlot slot, std::size_t nodes) {
                          by_kind.add(slot, nodes);
                          ++kinds;
                          in_kinds += nodes;
                        });
    RuledOut one_by_one(ruling);
    std::size_t nodes = 0;
    for (NodeSlot slot = 0; slot < world.nodes.slots(); ++slot) {
      if (!cache.takes(slot, scope) || slot == touched) continue;
      one_by_one.add(slot);
      ++nodes;
    }
    CHECK(by_kind.reasons() == one_by_one.reasons());
    CHECK(by_kind.plugins() == one_by_one.plugins());
    CHECK(in_kinds == nodes);
    if (kinds < nodes / 2) ++by_kind_alone;
  }
  CHECK(by_kind_alone > 3);
}
