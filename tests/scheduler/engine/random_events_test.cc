// Thousands of random events, with a model beside the engine that has only the engine's inputs and
// outputs: capacities, which pod was decided where, and which still waits.
#include "tests/scheduler/engine/random_pods.h"
#include "tests/support/catch.h"
#include "tests/support/seeds.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

std::string in_words(const Explanation& explained) {
  std::string text =
      explained.message + "|" + explained.details + "|" + explained.rejection.value_or("");
  for (const NodeExplanation& node : explained.nodes) {
    text += "\n" + node.node + " " + to_string(node.code) + " " + node.plugin;
    for (const std::string& reason : node.reasons) text += ", " + reason;
    for (const std::string& numbers : node.numbers) text += "; " + numbers;
  }
  return text;
}

class RandomEvents : RandomPods {
 public:
  // Few nodes are crowded, and their hosts are told apart as zones are; of many each host is
  // counted by itself.
  // Asked: the engine is asked why pods wait, and its answers are checked.
  RandomEvents(unsigned seed, unsigned most_nodes, bool asked)
      : RandomPods(seed), most_nodes_(most_nodes), asked_(asked) {}

  // Runs so many random events, deciding after each, and checks all along.
  void run(int events) {
    for (int i = 0; i < events; ++i) {
      if (i == 50) {
        s_.synced();
        synced_ = true;
      }
      s_.now += std::chrono::milliseconds(random_() % 400);
      something_happens();
      // Sometimes events come in batches.
      if (random_() % 3 != 0) decide();
    }
  }

  // Everything that was decided, as text.
  Texts log;

 private:
  struct Node {
    int gpus = 0;
    std::string zone;
    std::string host;
  };

  struct Plan {
    std::uint64_t number = 0;
    Time begun{};
    int gpus = 0;  // what its node had then
    bool written = false;
    bool failed = false;
  };

  void something_happens() {
    switch (pick(15)) {
      case 0:
      case 1:
        return node_upserted();
      case 2:
        return pick(3) == 0 ? node_deleted() : stale_update();
      case 3:
      case 4:
      case 5:
      case 6:
        return pod_created();
      case 7:
        return pod_gone();
      case 8:
        return foreign_pod();
      case 9:
        return bind_failed();
      case 10:
        return bind_succeeded();
      case 11:
        return watch_shows_bound();
      case 12:
      case 13:
        return plan_advances();
      default:
        return pod_changed();
    }
  }

  void node_upserted() {
    const std::string name = "n" + std::to_string(pick(most_nodes_));
    Node& known = nodes_[name];
    if (pick(3) == 0 || known.zone.empty()) {
      known.gpus = static_cast<int>(pick(9));
      known.host = pick(15) == 0 ? "shared" : name;
      known.zone = pick(10) == 0 ? "none" : "z" + std::to_string(pick(3));
    }
    NodeBuilder made = node(name).gpus(known.gpus).labelled("host", known.host).cpu("64");
    if (known.zone != "none") made.labelled("zone", known.zone);
    s_.has(made);
  }
  void node_deleted() {
    if (nodes_.empty()) return;
    const auto gone = std::next(nodes_.begin(), pick(nodes_.size()));
    s_.node_gone(gone->first);
    nodes_.erase(gone);
  }

  k8s::Pod object(const std::string& name, int gpus) {
    PodBuilder made = our_pod(name).gpus(gpus).priority(static_cast<int>(pick(3)));
    made.created_at(s_.now);
    if (pick(4) == 0) made.selects("zone", "z" + std::to_string(pick(3)));
    if (pick(6) == 0) made.host_port(80);
    if (pick(12) == 0) made.gated("later");
    if (pick(5) == 0) made.labelled("binds-claim", name);
    rule(made);
    return made;
  }
  // Which pods it wants to be near, or not, and over what it wants to be spread.
  void rule(PodBuilder& made) {
    const std::string app = pick(2) == 0 ? "a" : "b";
    made.labelled("app", app);
    const auto some_app = [&] {
      return pods_like({{"app", pick(2) == 0 ? "a" : "b"}}, some_key());
    };
    if (pick(6) == 0) made.away_from(some_app());
    if (pick(8) == 0) made.near(some_app());
    if (pick(5) == 0) {
      k8s::TopologySpreadConstraint spread;
      spread.topology_key = some_key();
      spread.max_skew = static_cast<std::int32_t>(1 + pick(2));
      spread.label_selector = selector({{"app", app}});
      if (pick(3) == 0) spread.min_domains = 3;
      spread.do_not_schedule = pick(2) == 0;
      made.spread_over(std::move(spread));
    }
    if (pick(6) == 0) made.rather_near(static_cast<std::int32_t>(1 + pick(100)), some_app());
    if (pick(6) == 0) made.rather_away_from(static_cast<std::int32_t>(1 + pick(100)), some_app());
  }
  const char* some_key() { return pick(2) == 0 ? "zone" : "host"; }
  void pod_created() {
    if (pods_.size() > 60) return pod_gone();
    const std::string name = new_name("p");
    const int gpus = static_cast<int>(pick(5));
    Pod& made = pods_[name];
    made.object = object(name, gpus);
    made.count = gpus;
    s_.has(made.object);
  }
  void foreign_pod() {
    if (nodes_.empty()) return;
    const std::string name = new_name("f");
    const std::string on = std::next(nodes_.begin(), pick(nodes_.size()))->first;
    Pod& made = pods_[name];
    made.count = pick(2);
    PodBuilder object = their_pod(name).gpus(static_cast<int>(made.count));
    rule(object);
    made.object = object;
    is_foreign(made, on);
  }

  void pod_changed() {
    Pod* pod = some(Stage::kWaiting);
    if (pod == nullptr) return;
    pod->object.spec.scheduling_gates.clear();
    pod->object.metadata.labels.set("version", std::to_string(pick(3)));
    s_.has(pod->object);
  }
  // The writes of a plan are done or fail; its claim is bound, lost, or as before; or another
  // client binds the pod.
  void plan_advances() {
    Pod* pod = some(Stage::kPreparing);
    if (pod == nullptr) return;
    const std::string& name = pod->object.metadata.name;
    Plan& plan = plans_.at(name);
    if (pick(15) == 0 && !nodes_.empty()) {
      pod->node = std::next(nodes_.begin(), pick(nodes_.size()))->first;
      pod->stage = Stage::kBound;
      return s_.has(as_stored(*pod));
    }
    if (!plan.written && pick(2) == 0) {
      plan.written = true;
      plan.failed = pick(4) == 0;
      return s_.prepared(plan.number, plan.failed ? "409 Conflict" : "");
    }
    k8s::PersistentVolumeClaim claim;
    claim.metadata.name = name;
    claim.metadata.namespace_ = pod->object.metadata.namespace_;
    claim.phase = pick(3) == 0 ? "Lost" : pick(4) == 0 ? "Pending" : "Bound";
    claims_[name] = claim.phase;
    s_.has(claim);
  }
  void stale_update() {
    Pod* pod = some(static_cast<Stage>(1 + pick(3)));
    if (pod != nullptr && pod->ours) s_.has(pod->object);  // without a node
  }
  void decide() {
    decide_all();
    if (synced_ && pick(4) == 0) check_rest();
  }

  void decide_all() {
    while (auto decision = s_.engine.step(s_.now)) {
      REQUIRE(synced_);
      if (const auto* bind = std::get_if<decision::Bind>(&*decision)) check_bind(*bind);
      if (const auto* begun = std::get_if<decision::Prepare>(&*decision)) check_prepare(*begun);
      if (const auto* undone = std::get_if<decision::NotPrepared>(&*decision)) {
        check_not_prepared(*undone);
      }
      if (const auto* none = std::get_if<decision::Unschedulable>(&*decision)) check_refusal(*none);
    }
  }

  void check_bind(const decision::Bind& bind) {
    log.push_back(bind.pod.name + " → " + bind.node + " " + std::to_string(bind.total_score));
    Pod& pod = pods_.at(bind.pod.name);
    if (pod.stage == Stage::kPreparing) {
      const Plan& plan = plans_.at(bind.pod.name);
      REQUIRE((plan.written && !plan.failed));
      REQUIRE(bind.node == pod.node);
      REQUIRE(could_take(bind.node, pod));
      REQUIRE_FALSE(has_shrunk(pod, plan));
    } else {
      check_choice(pod, bind.node);
    }
    REQUIRE((!binds_claim(pod) || claims_[bind.pod.name] == "Bound"));
    pod.stage = Stage::kAssumed;
    pod.node = bind.node;
    if (pick(4) == 0) check_undo(pod);
  }

  void check_prepare(const decision::Prepare& begun) {
    log.push_back(begun.pod.name + " prepares for " + begun.node);
    Pod& pod = pods_.at(begun.pod.name);
    check_choice(pod, begun.node);
    REQUIRE(binds_claim(pod));
    REQUIRE(claims_[begun.pod.name] != "Bound");
    REQUIRE(begun.plan > last_plan_);
    last_plan_ = begun.plan;
    plans_[begun.pod.name] = {
        .number = begun.plan, .begun = s_.now, .gpus = nodes_.at(begun.node).gpus};
    pod.stage = Stage::kPreparing;
    pod.node = begun.node;
  }

  void check_not_prepared(const decision::NotPrepared& undone) {
    log.push_back(undone.pod.name + " not to " + undone.node + ": " + undone.message);
    Pod& pod = pods_.at(undone.pod.name);
    const Plan& plan = plans_.at(undone.pod.name);
    REQUIRE(pod.stage == Stage::kPreparing);
    REQUIRE(undone.node == pod.node);
    const bool is_late = s_.now >= plan.begun + BindsClaim::kPatience;
    const bool is_lost = plan.written && claims_[undone.pod.name] == "Lost";
    const bool is_possible = could_take(pod.node, pod) && !has_shrunk(pod, plan);
    REQUIRE((plan.failed || is_lost || is_late || !is_possible));
    pod.stage = Stage::kWaiting;
    pod.backoff_until = s_.now + 1s;  // at least
  }

  // A node that a waiting pod is given.
  void check_choice(const Pod& pod, const std::string& on) {
    REQUIRE(pod.stage == Stage::kWaiting);
    REQUIRE(pod.object.spec.scheduling_gates.empty());
    REQUIRE(pod.backoff_until <= s_.now);
    // Nothing is given that is not there.
    REQUIRE(could_take(on, pod));
    const std::int64_t free = nodes_.at(on).gpus - taken(on, pod.resource);
    REQUIRE((pod.count == 0 || pod.count <= free));
    for (const auto& [name, other] : pods_) {
      if (other.stage == Stage::kWaiting) continue;
      REQUIRE_FALSE(keeps_off(pod.object, on, other.object, other.node));
      REQUIRE_FALSE(keeps_off(other.object, other.node, pod.object, on));
    }
  }

  // Whether the node is there, and could take the pod if it were empty.
  [[nodiscard]] bool could_take(const std::string& on, const Pod& pod) const {
    const auto node = nodes_.find(on);
    if (node == nodes_.end() || pod.count > node->second.gpus) return false;
    const std::string* zone = pod.object.spec.node_selector.find("zone");
    return zone == nullptr || *zone == node->second.zone;
  }

  // Whether the pod's node, which is there, has lost GPUs since the plan began, and has too few for
  // the pods that have some there, the plan's among them.
  [[nodiscard]] bool has_shrunk(const Pod& pod, const Plan& plan) const {
    const int gpus = nodes_.at(pod.node).gpus;
    return pod.count > 0 && gpus < plan.gpus && taken(pod.node, pod.resource) > gpus;
  }

  static bool binds_claim(const Pod& pod) {
    return pod.object.metadata.labels.find("binds-claim") != nullptr;
  }

  // Whether a pod's anti-affinity keeps the other out of where it is.
  bool keeps_off(const k8s::Pod& pod, const std::string& on, const k8s::Pod& other,
                 const std::string& other_on) {
    const auto& anti_affinity = pod.spec.pod_anti_affinity;
    if (!anti_affinity || !nodes_.contains(on) || !nodes_.contains(other_on)) return false;
    return std::any_of(anti_affinity->required.begin(), anti_affinity->required.end(),
                       [&](const auto& term) {
                         const std::string& zone = nodes_.at(on).zone;
                         const bool same = term.topology_key == "host"
                                               ? nodes_.at(on).host == nodes_.at(other_on).host
                                               : zone != "none" && zone == nodes_.at(other_on).zone;
                         return same && term.label_selector->matches(other.metadata.labels);
                       });
  }

  // Deciding and undoing leaves every pod's prospects as they were.
  void check_undo(Pod& pod) {
    const auto prospects = [&] {
      return in_words(s_.engine.explain(our_pod("probe").gpus(2))) +
             in_words(s_.engine.explain(our_pod("probe").host_port(80)));
    };
    s_.bind_failed(pod.object, pod.node);
    const std::string without = prospects();
    k8s::Pod bound = pod.object;
    bound.spec.node_name = pod.node;
    s_.has(bound);
    s_.pod_gone(pod.object);
    REQUIRE(prospects() == without);
    pods_.erase(pod.object.metadata.name);
  }

  void check_refusal(const decision::Unschedulable& refusal) {
    log.push_back(refusal.pod.name + " " + refusal.message + " " + refusal.details);
    const Pod& pod = pods_.at(refusal.pod.name);
    REQUIRE(pod.stage == Stage::kWaiting);
    if (!asked_) return;
    require_explained_alike(s_.engine, pod.object);
    const Explanation explained = s_.engine.explain(pod.object);
    REQUIRE(explained.message == refusal.message);
    REQUIRE(explained.details == refusal.details);
  }

  // The engine has nothing to decide: every pod of ours waits in one place, and for a reason.
  void check_rest() {
    // For what other pods have become, those that wait are looked at once a second; and those that
    // are placed then may help more.
    for (std::size_t left = pods_.size() + 1; left > waiting_pods();) {
      left = waiting_pods();
      s_.now += 1s;
      decide_all();
    }
    std::size_t waiting = 0;
    for (const auto& [name, pod] : pods_) {
      // What is ready is bound, and what has failed is undone.
      if (pod.stage == Stage::kPreparing) {
        const Plan& plan = plans_.at(name);
        REQUIRE((!plan.written || (!plan.failed && claims_[name] != "Bound")));
        REQUIRE(nodes_.contains(pod.node));
        REQUIRE(s_.now < plan.begun + BindsClaim::kPatience);
      }
      if (pod.stage != Stage::kWaiting) continue;
      ++waiting;
      if (!pod.object.spec.scheduling_gates.empty()) continue;
      // Only what backs off may fit and wait.
      if (asked_ && pod.backoff_until == Time{}) {
        REQUIRE(!s_.engine.explain(pod.object).message.empty());
      }
    }
    const PendingPods pending = s_.engine.pending();
    REQUIRE(pending.active == 0);
    REQUIRE(pending.backoff + pending.unschedulable + pending.gated == waiting);
  }

  [[nodiscard]] std::size_t waiting_pods() const {
    return static_cast<std::size_t>(std::count_if(pods_.begin(), pods_.end(), [](const auto& each) {
      return each.second.stage == Stage::kWaiting;
    }));
  }

  unsigned most_nodes_;
  bool asked_;
  bool synced_ = false;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Plan> plans_;          // the last of each pod, by its name
  std::map<std::string, std::string> claims_;  // their phases, by pod
  std::uint64_t last_plan_ = 0;
};

}  // namespace

TEST_CASE(
    "through random events nothing is over-committed, nobody is lost, and all is repeatable") {
  const unsigned seed = GENERATE(from_range(tests::seeds(2, 8)));
  INFO("seed " << seed);
  const unsigned nodes = GENERATE(10U, 25U);
  RandomEvents world(seed, nodes, true);
  world.run(2000);
  // Nor does it matter what is asked in between.
  RandomEvents again(seed, nodes, false);
  again.run(2000);
  CHECK(world.log.size() > 500);
  CHECK(world.log == again.log);
}
