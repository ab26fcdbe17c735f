// A trial answers what the same would give if it were really done.
#include "scheduler/engine/world/trial.h"

#include "scheduler/cluster/placement.h"
#include "scheduler/engine/finder/score_cache.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

// What is taken of the node's CPU, and its GPUs: a score with extremes that change.
class TakenAndLarge final : public ScorePlugin {
 public:
  explicit TakenAndLarge(Normalisation how) : how_(how) {}
  [[nodiscard]] std::string_view name() const override { return "TakenAndLarge"; }
  [[nodiscard]] Normalisation normalisation() const override { return how_; }
  [[nodiscard]] std::unique_ptr<NodeScore> prepare(const PodShape&,
                                                   const PrepareContext&) const override {
    class Score final : public NodeScore {
     public:
      [[nodiscard]] std::int64_t score(const NodeView& node) const override {
        return node.requested(kCpu) / 1'000 + node.allocatable(kNvidiaGpu);
      }
    };
    return std::make_unique<Score>();
  }

 private:
  Normalisation how_;
};

Occupant occupant(const Claim& claim) {
  Occupant made;
  made.claim = claim;
  return made;
}

// Nodes with pods, and the same changes tried and done.
class TriedAndDone {
 public:
  TriedAndDone(unsigned seed, const Profile& profile) : random_(seed) {
    for (int i = 0; i < 60; ++i) nodes_.upsert(some_node("n" + std::to_string(i)));
    for (int i = 0; i < 150; ++i) place();
    for (int i = 0; i < 8; ++i) {
      caches_.push_back(
          std::make_unique<ScoreCache>(nodes_, profile, some_shape(), PrepareContext{names_}));
    }
  }

  // Returns how many questions were compared.
  int round() {
    Trial trial(nodes_);
    std::vector<std::size_t> gone;
    std::vector<std::pair<NodeSlot, Claim>> come;
    std::vector<NodeFacts> replaced;
    for (auto i = random_() % 5; i > 0 && !pods_.empty(); --i) {
      const std::size_t pod = random_() % pods_.size();
      if (std::find(gone.begin(), gone.end(), pod) != gone.end()) continue;
      gone.push_back(pod);
      trial.take_away(pods_[pod]->node(), pods_[pod]->occupant());
    }
    for (auto i = random_() % 3; i > 0; --i) {
      come.emplace_back(some_slot(), some_claim());
      trial.add(come.back().first, occupant(come.back().second));
    }
    for (auto i = random_() % 2; i > 0; --i) {
      NodeFacts facts = some_node(nodes_.name(some_slot()));
      trial.replace(nodes_.find(facts.name), facts);
      replaced.push_back(std::move(facts));
    }
    if (!gone.empty() && random_() % 2 == 0) {  // it would stay after all
      trial.put_back(pods_[gone.back()]->node(), pods_[gone.back()]->occupant());
      gone.pop_back();
    }

    // Some nodes are left out: what is left is as if they were cordoned.
    Ruling except;
    std::vector<NodeSlot> out;
    for (auto i = random_() % 4; i > 0; --i) out.push_back(some_slot());
    if (!out.empty()) except.add({}, out, std::nullopt);
    for (auto i = random_() % 5; i > 2; --i) except.add({}, {}, some_slots());
    for (const char* key : {"zone", "rack"}) {
      if (random_() % 3 != 0) continue;
      Ruling::ByDomain some{.domains = domains_.of(key), .out = {}, .without = random_() % 2 == 0};
      for (DomainId i = 0; i < some.domains->size(); ++i) some.out.push_back(random_() % 3 == 0);
      except.add({}, std::move(some));
    }

    std::vector<Scope> scopes;
    std::vector<Answer> tried;
    const auto changes = nodes_.changes().end();
    for (const auto& cache : caches_) {
      scopes.push_back(some_scope());
      cache->catch_up(scopes.back());
      // The others put aside the nodes that these domains have.
      if (random_() % 2 == 0) cache->split_by(except);
      const Answer before = answer(cache->best());
      tried.push_back(
          answer(cache->best({.scope = scopes.back(), .ruling = &except, .trial = &trial})));
      CHECK(answer(cache->best()) == before);
    }
    CHECK(nodes_.changes().end() == changes);

    std::sort(gone.rbegin(), gone.rend());
    for (const std::size_t pod : gone) {
      pods_[pod] = std::move(pods_.back());
      pods_.pop_back();
    }
    for (auto& [slot, claim] : come) put(slot, std::move(claim));
    for (NodeFacts& facts : replaced) nodes_.upsert(std::move(facts));
    std::vector<NodeFacts> left_out;
    for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
      if (except.find(slot) == nullptr) continue;
      left_out.push_back(nodes_.facts(slot));
      NodeFacts cordoned = nodes_.facts(slot);
      cordoned.unschedulable = true;
      nodes_.upsert(std::move(cordoned));
    }
    for (std::size_t i = 0; i < caches_.size(); ++i) {
      caches_[i]->catch_up(scopes[i]);
      REQUIRE(tried[i] == answer(caches_[i]->best({.scope = scopes[i]})));
    }
    for (NodeFacts& facts : left_out) nodes_.upsert(std::move(facts));
    if (pods_.size() < 100) place();
    return static_cast<int>(caches_.size());
  }

 private:
  using Answer = std::tuple<std::size_t, NodeSlot, std::int64_t>;  // feasible, best, its total
  static Answer answer(const Best& best) { return {best.feasible, best.node, best.total}; }
  std::vector<NodeSlot> some_slots() {
    std::vector<NodeSlot> slots;
    for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
      if (random_() % 3 != 0) slots.push_back(slot);
    }
    return slots;
  }
  Scope some_scope() {
    switch (random_() % 4) {
      case 0:
        return {&sets_, sets_.intern({1, 2})};
      case 1:
        return {&sets_, sets_.intern({3})};
      default:
        return {};
    }
  }
  NodeSlot some_slot() { return nodes_.find("n" + std::to_string(random_() % 60)); }
  NodeFacts some_node(const std::string& name) {
    NodeBuilder made = node(name);
    made.gpus(static_cast<int>(random_() % 9)).cpu(std::to_string(1 + random_() % 16));
    if (random_() % 2 == 0) made.labelled("zone", "z" + std::to_string(random_() % 2));
    if (random_() % 2 == 0) made.labelled("rack", "r" + std::to_string(random_() % 3));
    if (random_() % 3 == 0) made.labelled("rank", std::to_string(random_() % 4));
    if (random_() % 9 == 0) made.cordoned();
    if (random_() % 5 == 0) made.tainted("soft", "", k8s::TaintEffect::kPreferNoSchedule);
    NodeFacts facts = facts_of(made, names_);
    facts.charge_class = random_() % 4;
    return facts;
  }
  ShapeRef some_shape() {
    PodBuilder pod = our_pod("p").gpus(static_cast<int>(random_() % 4));
    pod.cpu(std::to_string(random_() % 4));
    if (random_() % 4 == 0) pod.selects("zone", "z1");
    if (random_() % 6 == 0) pod.host_port(80);
    if (random_() % 3 == 0) pod.prefers_nodes(30, term({label("rank").greater_than("1")}));
    return shapes_.intern(shape_of(pod, names_));
  }
  Claim some_claim() {
    Claim claim = claim_of(*some_shape());
    // A sum at its limit no longer knows what was added.
    if (random_() % 50 == 0) claim.requests = {{kCpu, std::numeric_limits<std::int64_t>::max()}};
    return claim;
  }
  void place() { put(some_slot(), some_claim()); }
  void put(NodeSlot slot, Claim claim) {
    pods_.push_back(std::make_unique<Placement>(nodes_, slot, Occupant{.claim = std::move(claim)}));
  }

  std::mt19937 random_;
  ResourceNames names_;
  Nodes nodes_;
  Domains domains_{nodes_};
  Shapes shapes_;
  quota::ClassSets sets_;
  std::vector<std::unique_ptr<Placement>> pods_;
  std::vector<std::unique_ptr<ScoreCache>> caches_;
};

void try_and_do(const Profile& profile) {
  const int questions = static_cast<int>(amount(3'000, 300'000));  // 12,000 in all, or 1.2 million
  int asked = 0;
  for (unsigned seed = 1; asked < questions; ++seed) {
    TriedAndDone cluster(seed, profile);
    for (int round = 0; round < 100; ++round) asked += cluster.round();
  }
}

}  // namespace

TEST_CASE("a trial answers what the same gives when it is really done") {
  SECTION("under the default profile") { try_and_do(profiles()[0]); }
  for (const Normalisation how :
       {Normalisation::kMax, Normalisation::kReversed, Normalisation::kMinMax}) {
    DYNAMIC_SECTION("with extremes that move, normalised by way " << static_cast<int>(how)) {
      Profile profile;
      profile.scheduler_name = kOurs;
      profile.filters = std::move(profiles()[0].filters);
      profile.scores.push_back({.plugin = std::make_unique<TakenAndLarge>(how), .weight = 3});
      try_and_do(profile);
    }
  }
}

TEST_CASE("a trial that is dropped leaves no trace, and one without a change changes no answer") {
  ResourceNames names;
  Nodes nodes;
  nodes.upsert(facts_of(node("a").gpus(4), names));
  const NodeSlot a = nodes.find("a");
  const Claim two = claim_of(shape_of(our_pod("p").gpus(2), names));
  const Placement placed(nodes, a, Occupant{.claim = two});
  const NodeUsage usage = nodes.usage(a);
  const auto changes = nodes.changes().end();
  {
    Trial trial(nodes);
    CHECK(trial.touched().empty());
    CHECK(trial.view(a).free(kNvidiaGpu) == 2);
    trial.take_away(a, placed.occupant());
    CHECK(trial.view(a).free(kNvidiaGpu) == 4);
    trial.add(a, occupant(two));
    trial.add(a, occupant(two));
    CHECK(trial.view(a).free(kNvidiaGpu) == 0);
    NodeFacts larger = nodes.facts(a);
    larger.allocatable.set(kNvidiaGpu, 9);
    trial.replace(a, larger);
    CHECK(trial.view(a).free(kNvidiaGpu) == 5);
    trial.put_back(a, placed.occupant());
    CHECK(trial.view(a).free(kNvidiaGpu) == 3);
    CHECK(trial.touched() == std::vector<NodeSlot>{a});
  }
  CHECK(nodes.usage(a) == usage);
  CHECK(nodes.view(a).free(kNvidiaGpu) == 2);
  CHECK(nodes.changes().end() == changes);
}
