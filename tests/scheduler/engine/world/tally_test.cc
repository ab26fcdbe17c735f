// Counts by domain: kept and tried ones are what counting anew gives.
#include "scheduler/engine/world/tally.h"

#include "scheduler/cluster/placement.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"
#include "tests/support/seeds.h"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace sched;

namespace {

// As many as the label `weight` says; nothing on nodes labelled `skip`.
class Weights final : public Counted {
 public:
  explicit Weights(bool terminating) : terminating_(terminating) {}
  [[nodiscard]] std::int32_t amount(const PodClass& pod) const override {
    const std::string* weight = pod.labels.find("weight");
    return weight == nullptr ? 0 : std::stoi(*weight);
  }
  [[nodiscard]] bool counts_terminating() const override { return terminating_; }
  [[nodiscard]] bool counts_on(const NodeFacts& node) const override {
    return node.labels.find("skip") == nullptr;
  }

 private:
  bool terminating_;
};

// By the domain's first node: how much there is.
using AmountsByNode = std::map<NodeSlot, std::int64_t>;
struct CountsByNode {
  AmountsByNode amounts;  // of domains with a node
  std::size_t size = 0;
  std::optional<std::int64_t> least;
  std::int64_t total = 0;
  friend bool operator==(const CountsByNode&, const CountsByNode&) = default;
};

class RandomTallies {
 public:
  explicit RandomTallies(unsigned seed) : random_(seed) {
    for (const bool terminating : {false, true}) {
      tallies_.emplace_back(nodes_, classes_, domains_.of("zone"),
                            std::make_shared<Weights>(terminating));
    }
  }

  void run(int changes) {
    for (int i = 0; i < changes; ++i) {
      change();
      if (pick(3) != 0) continue;
      for (Tally& tally : tallies_) {
        tally.catch_up();
        const bool terminating = &tally == &tallies_.back();
        REQUIRE(of(tally, tally.counts()) == anew(terminating, nullptr));
        Trial trial(nodes_);
        try_something(trial);
        REQUIRE(of(tally, tally.counts_in(trial)) == anew(terminating, &trial));
      }
      check_lists();
    }
  }

 private:
  unsigned pick(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  std::string some_name() { return "n" + std::to_string(pick(12)); }

  NodeFacts some_node(const std::string& name) {
    NodeFacts facts;
    facts.name = name;
    if (pick(5) != 0) facts.labels.set("zone", "z" + std::to_string(pick(4)));
    if (pick(5) == 0) facts.labels.set("skip", "");
    return facts;
  }
  Occupant some_occupant() {
    tests::PodBuilder pod = tests::pod("p");
    if (pick(4) != 0) pod.labelled("weight", std::to_string(pick(4)));
    if (pick(4) == 0) pod.labelled("version", std::to_string(pick(50)));
    if (pick(4) == 0) pod.terminating();
    Occupant made = occupant_of(pod, {}, classes_.intern(pod), true);
    if (pick(10) == 0) made.kind = Occupant::Kind::kReservation;
    return made;
  }
  void change() {
    switch (pick(8)) {
      case 0:
      case 1:
        nodes_.upsert(some_node(some_name()));
        return;
      case 2:
        if (pick(3) == 0) nodes_.erase(some_name());
        return;
      case 3:
      case 4:
      case 5:
        pods_.push_back(
            std::make_unique<Placement>(nodes_, nodes_.slot_of(some_name()), some_occupant()));
        return;
      case 6:
        if (!pods_.empty()) change(*pods_[pick(pods_.size())]);
        return;
      default:
        if (pods_.empty()) return;
        std::swap(pods_[pick(pods_.size())], pods_.back());
        pods_.pop_back();
    }
  }
  void change(Placement& pod) {
    Occupant now = some_occupant();
    now.kind = pod.occupant().kind;  // a reservation becomes no pod
    pod.change(std::move(now));
  }
  void try_something(Trial& trial) {
    for (const auto& pod : pods_) {
      if (pick(4) == 0) trial.take_away(pod->node(), pod->occupant());
    }
    for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
      if (nodes_.present(slot) && pick(4) == 0) trial.add(slot, some_occupant());
    }
  }

  CountsByNode of(const Tally& tally, const DomainCounts& counts) {
    CountsByNode all{
        .amounts = {}, .size = counts.size(), .least = counts.least(), .total = counts.total()};
    for (DomainId domain = 0; domain < tally.domains()->size(); ++domain) {
      const std::vector<NodeSlot>& nodes = tally.domains()->in(domain);
      if (!nodes.empty()) all.amounts[nodes.front()] = counts.of(domain);
    }
    return all;
  }
  CountsByNode anew(bool terminating, const Trial* trial) {
    std::map<std::string, std::tuple<NodeSlot, std::int64_t, bool>> zones;  // first node, amount
    CountsByNode all;
    const Weights weights(terminating);
    for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
      const std::string* zone =
          nodes_.present(slot) ? nodes_.facts(slot).labels.find("zone") : nullptr;
      if (zone == nullptr) continue;
      auto& [first, amount, counts] =
          zones.try_emplace(*zone, slot, std::int64_t{0}, false).first->second;
      if (!weights.counts_on(nodes_.facts(slot))) continue;
      counts = true;
      const auto there = trial != nullptr ? trial->occupants(slot) : nodes_.occupants(slot);
      for (const Occupant* each : there) {
        if (each->kind != Occupant::Kind::kPod || (each->terminating && !terminating)) continue;
        amount += weights.amount(*each->pod_class);
      }
    }
    for (const auto& [zone, made] : zones) {
      const auto& [first, amount, counts] = made;
      all.amounts[first] = amount;
      all.total += amount;
      if (!counts) continue;
      ++all.size;
      all.least = all.least ? std::min(*all.least, amount) : amount;
    }
    return all;
  }
  void check_lists() {
    const auto index = domains_.of("zone");
    std::vector<NodeSlot> without;
    for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
      const bool lacks = nodes_.present(slot) && nodes_.facts(slot).labels.find("zone") == nullptr;
      if (lacks) without.push_back(slot);
      const DomainId domain = index->of(slot);
      REQUIRE((domain != kNoDomain) == (nodes_.present(slot) && !lacks));
      if (domain == kNoDomain) continue;
      REQUIRE(index->of(nodes_.facts(slot)) == domain);
      REQUIRE(std::count(index->in(domain).begin(), index->in(domain).end(), slot) == 1);
    }
    REQUIRE(index->without() == without);
    for (DomainId domain = 0; domain < index->size(); ++domain) {
      REQUIRE(std::is_sorted(index->in(domain).begin(), index->in(domain).end()));
    }
  }

  std::mt19937 random_;
  PodClasses classes_;
  Nodes nodes_;
  Domains domains_{nodes_};
  std::vector<Tally> tallies_;
  std::vector<std::unique_ptr<Placement>> pods_;
};

}  // namespace

TEST_CASE("counts that are kept, and those of a trial, are what counting anew gives") {
  const unsigned seed = GENERATE(from_range(tests::seeds(3, 12)));
  INFO("seed " << seed);
  RandomTallies world(seed);
  world.run(3'000);
}

TEST_CASE("a class lives as long as a pod has it, and its number may be another's then") {
  PodClasses classes;
  const k8s::Pod a = tests::pod("a").labelled("app", "a");
  const k8s::Pod alike = tests::pod("alike").labelled("app", "a");
  const k8s::Pod b = tests::pod("b").labelled("app", "a").in_namespace("other");
  PodClassRef first = classes.intern(a);
  CHECK(classes.intern(alike) == first);
  CHECK_FALSE(classes.intern(b) == first);
  CHECK(classes.size() == 1);
  const auto births = classes.births().end();
  first = {};
  CHECK(classes.size() == 0);
  const PodClassRef again = classes.intern(b);
  std::vector<NodeSlot> born;
  classes.births().since(births, [&](NodeSlot each) { born.push_back(each); });
  CHECK(born == std::vector<NodeSlot>{static_cast<NodeSlot>(again.id())});
  CHECK(classes.size() == 1);
  CHECK((*again).namespace_ == "other");
}
