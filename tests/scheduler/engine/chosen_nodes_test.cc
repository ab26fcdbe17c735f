// Where pods go in a cluster of a hundred nodes of which a few change at a time: always to the node
// that is best when all are asked anew, which is how Engine::candidates answers.
#include "tests/scheduler/engine/random_pods.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

// All plugins and pods by themselves; those that read nothing of GPUs beside one score that makes
// equals of most nodes; or these, and pods that would rather be near some and away from others: by
// zone and host, or by racks, too, and with hosts of one name.
enum class ChoiceKind { kAllScores, kOneScore, kCompany, kCompanyInRacks };

std::vector<Profile> profile_with(TieBreak::Order order, ChoiceKind kind) {
  std::vector<Profile> made = profiles();
  made[0].tie_break = {order, 7};
  if (kind != ChoiceKind::kAllScores) {
    std::erase_if(made[0].scores, [](const WeightedScore& each) {
      return each.plugin->name() != "TaintToleration";
    });
  }
  return made;
}

class RandomChoices : RandomPods {
 public:
  RandomChoices(unsigned seed, TieBreak::Order order, ChoiceKind kind)
      : RandomPods(seed), order_(order), kind_(kind) {
    s_.engine = Engine(profile_with(order, kind), {});
    for (std::size_t i = 0; i < kNodes; ++i) upsert_node(i);
    s_.synced();
  }

  void run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      s_.now += std::chrono::milliseconds(300);
      for (unsigned n = pick(4); n > 0; --n) something_happens();
      decide();
    }
  }
  int binds = 0;
  int refusals = 0;

 private:
  static constexpr std::size_t kNodes = 100;

  void something_happens() {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
        // As often as not one of those that are taken first.
        return upsert_node(pick(pick(2) == 0 ? kNodes : 8));
      case 3:
        if (pick(8) == 0) s_.node_gone("n" + std::to_string(pick(kNodes)));
        return;
      case 4:
      case 5:
        return pod_gone();
      case 6:
        return bind_failed();
      case 7:
        return watch_shows_bound();
      default:
        return pod_created();
    }
  }
  void upsert_node(std::size_t number) {
    NodeBuilder made = node("n" + std::to_string(number)).cpu("64");
    // Where the order of equals is that of their GPUs these stay; see the cases below for others.
    const bool gpus_stay = order_ == TieBreak::Order::kFewestGpusFirst;
    made.gpus(std::array{0, 1, 2, 4}[gpus_stay ? number % 4 : pick(4)]);
    made.labelled("zone", "z" + std::to_string(pick(3)));
    if (pick(2) == 0) made.product(pick(2) == 0 ? "NVIDIA-H100-80GB-HBM3" : "NVIDIA-L4");
    for (unsigned i = pick(4) == 0 ? pick(3) : 0; i > 0; --i) {
      made.tainted("soft" + std::to_string(i), "", k8s::TaintEffect::kPreferNoSchedule);
    }
    if (pick(10) == 0) made.cordoned();
    const bool in_racks = kind_ == ChoiceKind::kCompanyInRacks;
    if (in_racks) made.labelled("rack", "r" + std::to_string(pick(20)));
    // As with cloned machines, two may have one name.
    const std::size_t host = in_racks && pick(20) == 0 ? number / 2 : number;
    if (pick(20) != 0) made.labelled(kHost, "h" + std::to_string(host));
    s_.has(made);
  }
  // Few kinds, so that each is asked about again and again.
  void pod_created() {
    if (pods_.size() > 250) return pod_gone();
    const std::string name = new_name("p");
    PodBuilder made = our_pod(name).created_at(s_.now);
    const unsigned kind = pick(8);
    made.gpus(kind % 4).cpu(kind % 2 == 0 ? "1" : "3");
    if (kind == 1) made.selects("zone", "z1");
    if (kind == 2) made.prefers_nodes(10, term({label("zone").in({"z2"})}));
    if (kind == 3) made.tolerates("soft1").tolerates("soft2");
    if (kind == 5) made.host_port(80);
    if (kind == 6) made.annotated("gpu-scheduler.io/gpu-type", "H100, L4");
    if (kind_ >= ChoiceKind::kCompany) has_company(made);
    pods_[name].object = made;
    s_.has(pods_[name].object);
  }

  void has_company(PodBuilder& made) {
    const auto some_app = [&] { return std::string(1, static_cast<char>('a' + pick(2))); };
    const auto some_key = [&] {
      return std::array{"zone", kHost, "none",
                        "rack"}[pick(kind_ == ChoiceKind::kCompanyInRacks ? 4 : 3)];
    };
    const auto some_pods = [&] { return pods_like({{"app", some_app()}}, some_key()); };
    const auto some_weight = [&] { return static_cast<std::int32_t>(1 + pick(100)); };
    const std::string app = some_app();
    made.labelled("app", app);
    for (unsigned i = pick(3); i > 0; --i) {
      k8s::TopologySpreadConstraint spread;
      spread.topology_key = some_key();
      spread.max_skew = static_cast<std::int32_t>(1 + pick(3));
      spread.do_not_schedule = pick(4) == 0;
      spread.label_selector = selector({{"app", app}});
      spread.node_taints_honor = pick(2) == 0;
      made.spread_over(std::move(spread));
    }
    for (unsigned i = pick(3); i > 0; --i) made.rather_near(some_weight(), some_pods());
    for (unsigned i = pick(3); i > 0; --i) made.rather_away_from(some_weight(), some_pods());
    if (pick(6) == 0) made.near(some_pods());
    if (pick(6) == 0) made.away_from(some_pods());
  }

  void decide() {
    while (auto decision = s_.engine.step(s_.now)) {
      if (const auto* bind = std::get_if<decision::Bind>(&*decision)) check(*bind);
      if (const auto* refusal = std::get_if<decision::Unschedulable>(&*decision)) check(*refusal);
    }
  }
  void check(const decision::Bind& bind) {
    Pod& pod = pods_.at(bind.pod.name);
    pod.stage = Stage::kAssumed;
    pod.node = bind.node;
    ++binds;
    const auto candidates = s_.engine.candidates(pod.object, kNodes);
    INFO(bind.pod.name << " → " << bind.node);
    REQUIRE(bind.feasible_nodes == candidates.size());
    const auto chosen = std::find_if(candidates.begin(), candidates.end(),
                                     [&](const auto& each) { return each.node == bind.node; });
    REQUIRE(chosen != candidates.end());
    if (order_ != TieBreak::Order::kRandom) REQUIRE(chosen->node == candidates[0].node);
    REQUIRE(bind.total_score == candidates[0].total_score);
    REQUIRE(bind.total_score == chosen->total_score);
    REQUIRE(bind.scores == chosen->scores);
  }
  void check(const decision::Unschedulable& refusal) {
    ++refusals;
    const Pod& pod = pods_.at(refusal.pod.name);
    REQUIRE(s_.engine.candidates(pod.object, 1).empty());
    const Explanation explained = s_.engine.explain(pod.object);
    REQUIRE(explained.message == refusal.message);
    REQUIRE(explained.details == refusal.details);
  }

  static constexpr const char* kHost = "kubernetes.io/hostname";
  TieBreak::Order order_;
  ChoiceKind kind_;
};

}  // namespace

TEST_CASE("among a hundred nodes each pod goes to the one that is best when all are asked anew") {
  using Order = TieBreak::Order;
  const auto order =
      GENERATE(Order::kFirstNode, Order::kShuffledNodes, Order::kFewestGpusFirst, Order::kRandom);
  const auto kind = GENERATE(ChoiceKind::kAllScores, ChoiceKind::kOneScore, ChoiceKind::kCompany,
                             ChoiceKind::kCompanyInRacks);
  INFO("order " << static_cast<int>(order) << ", kind " << static_cast<int>(kind));
  RandomChoices world(static_cast<unsigned>(order) + 1, order, kind);
  world.run(static_cast<int>(tests::amount(450, 1'200)));
  CHECK(world.binds > 100);
  CHECK(world.refusals > 0);
}

namespace {

// Forty nodes of 16 GPUs, beside those that a test adds; all are equal but for the order.
struct FewestGpusFirst : Scheduler {
  FewestGpusFirst() {
    engine = Engine(profile_with(TieBreak::Order::kFewestGpusFirst, ChoiceKind::kOneScore), {});
    synced();
  }
  void others() {
    for (int i = 0; i < 40; ++i) has_gpus("other-" + std::to_string(i), 16);
  }
  void has_gpus(const std::string& name, int gpus) { has(node(name).gpus(gpus).cpu("64")); }
  Texts places(const std::string& pod) {
    has(our_pod(pod).cpu("1"));
    return decide();
  }
};

}  // namespace

TEST_CASE("a node that comes to be before or behind its equals is taken accordingly") {
  FewestGpusFirst s;
  s.has_gpus("x", 4);
  s.has_gpus("y", 2);
  s.others();
  CHECK(s.places("a") == Texts{"a → y"});
  s.has_gpus("y", 8);
  CHECK(s.places("b") == Texts{"b → x"});
  s.has_gpus("y", 1);
  CHECK(s.places("c") == Texts{"c → y"});
}

// Of several nodes that change places among equals at once, the first that is looked at must not be
// compared with a winner that has lost its place: the nodes between the two would be passed over.
TEST_CASE("nodes that change their places among equals together are taken accordingly") {
  FewestGpusFirst s;
  s.has_gpus("x", 4);
  s.has_gpus("y", 0);
  s.has_gpus("z", 1);
  s.others();
  CHECK(s.places("a") == Texts{"a → y"});
  SECTION("the better one first") {
    s.has_gpus("x", 2);
    s.has_gpus("y", 4);
  }
  SECTION("the worse one first") {
    s.has_gpus("y", 4);
    s.has_gpus("x", 2);
  }
  CHECK(s.places("b") == Texts{"b → z"});
}
