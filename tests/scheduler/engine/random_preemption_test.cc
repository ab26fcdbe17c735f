// Random pods that preempt, with a model beside the engine.
#include "tests/scheduler/engine/preempting.h"
#include "tests/support/catch.h"
#include "tests/support/seeds.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

// Random pods of three priorities on a few nodes, evicted, bound, finished and deleted at random,
// with a model beside the engine that has only its inputs and outputs.
class RandomPreemption {
 public:
  explicit RandomPreemption(unsigned seed) : random_(seed) {
    for (int i = 0; i < kNodes; ++i) s_.has(node(name_of(i)).gpus(kGpus));
  }

  void run(int events) {
    for (int i = 0; i < events; ++i) {
      s_.now += std::chrono::milliseconds(random_() % 3'000);
      something_happens();
      decide();
    }
    // Then everything that was begun ends, and nothing more comes.
    for (int i = 0; i < 200; ++i) {
      s_.now += 60s;
      for (auto& [number, plan] : plans_) answer(number, plan, {});
      finish_leaving();
      decide();
    }
    for (const auto& [name, pod] : pods_) {
      INFO(name);
      CHECK(!pod.leaving);
      CHECK((pod.waits || pod.bound));
      // Nobody waits beside room, or beside pods that it could evict.
      if (pod.waits) CHECK_FALSE(could_be_placed(pod));
    }
  }
  [[nodiscard]] int evictions() const { return evictions_; }
  [[nodiscard]] int undone() const { return undone_; }

 private:
  static constexpr int kNodes = 4;
  static constexpr int kGpus = 8;
  struct Pod {
    k8s::Pod object;
    int gpus = 0;
    std::string node;  // of the last decision
    bool waits = true;
    bool bound = false;
    bool leaving = false;  // is being deleted
  };
  struct Plan {
    PodRef pod;
    std::vector<decision::Victim> victims;
    std::string node;
    bool answered = false;
    bool refused = false;
  };

  static std::string name_of(int node) { return "n" + std::to_string(node); }
  unsigned pick(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  Pod* some() {
    if (pods_.empty()) return nullptr;
    return &std::next(pods_.begin(), pick(pods_.size()))->second;
  }

  void something_happens() {
    switch (pick(8)) {
      case 0:
      case 1:
      case 2:
        return create();
      case 3:
        if (Pod* pod = some()) erase(*pod);
        return;
      case 4: {
        const std::string on = name_of(static_cast<int>(pick(kNodes)));
        NodeBuilder made = node(on).gpus(kGpus);
        cordoned_.erase(on);
        if (pick(4) == 0) {
          made.cordoned();
          cordoned_.insert(on);
        }
        return s_.has(made);
      }
      case 5:
        if (plans_.empty()) return;
        {
          auto& [number, plan] = *std::next(plans_.begin(), pick(plans_.size()));
          return answer(number, plan, pick(5) == 0 ? "500" : "");
        }
      default:
        return finish_leaving();
    }
  }
  void create() {
    if (pods_.size() > 40) return;
    const std::string name = "p" + std::to_string(++made_);
    Pod& pod = pods_[name];
    pod.gpus = static_cast<int>(1 + pick(8));
    pod.object = owned(our_pod(name).gpus(pod.gpus).priority(static_cast<int>(pick(3))));
    s_.has(pod.object);
  }
  void erase(Pod& pod) {
    const k8s::Pod object = pod.object;
    pods_.erase(object.metadata.name);
    end_plan_of(object.metadata.uid);  // nobody is deleted for it any more
    s_.pod_gone(object);
  }
  // The victims are deleted; or that fails, for the last of them.
  void answer(std::uint64_t number, Plan& plan, const std::string& failure) {
    if (plan.answered) return;
    plan.answered = true;
    plan.refused = !failure.empty();
    for (const decision::Victim& victim : plan.victims) {
      const auto found = pods_.find(victim.pod.name);
      const bool fails = !failure.empty() && &victim == &plan.victims.back();
      if (found == pods_.end() || fails) continue;
      found->second.leaving = true;
      found->second.object.metadata.deletion_timestamp =
          std::chrono::floor<std::chrono::seconds>(s_.now + 30s);
      k8s::Pod seen = found->second.object;
      if (found->second.bound) seen.spec.node_name = found->second.node;
      s_.has(seen);
    }
    s_.prepared(number, failure);
  }
  void finish_leaving() {
    std::vector<std::string> gone;
    for (const auto& [name, pod] : pods_) {
      if (pod.leaving && pick(2) == 0) gone.push_back(name);
    }
    for (const std::string& name : gone) erase(pods_.at(name));
  }

  void decide() {
    while (const auto decided = s_.engine.step(s_.now)) std::visit(*this, *decided);
  }

 public:
  void operator()(const decision::Bind& bind) {
    Pod& pod = pods_.at(bind.pod.name);
    REQUIRE_FALSE(pod.bound);
    int used = pod.gpus;
    for (const auto& [name, other] : pods_) {
      if (other.bound && other.node == bind.node) used += other.gpus;
    }
    REQUIRE(used <= kGpus);
    pod.waits = false;
    pod.bound = true;
    pod.node = bind.node;
    k8s::Pod seen = pod.object;
    seen.spec.node_name = bind.node;
    s_.has(seen);
    end_plan_of(bind.pod.uid);
  }
  void operator()(const decision::Evict& evict) {
    Pod& pod = pods_.at(evict.pod.name);
    REQUIRE(pod.waits);
    int freed = 0;
    for (const decision::Victim& victim : evict.victims) {
      const Pod& other = pods_.at(victim.pod.name);
      REQUIRE(other.bound);
      REQUIRE(other.node == evict.node);
      REQUIRE(other.object.spec.priority < pod.object.spec.priority);
      REQUIRE_FALSE(other.leaving);
      freed += other.gpus;
    }
    evictions_ += static_cast<int>(evict.victims.size());
    // No one is evicted without need, but for those whose eviction was begun for a pod that it
    // takes the room of.
    const bool takes_over = std::any_of(plans_.begin(), plans_.end(), [&](const auto& each) {
      return each.second.node == evict.node && priority_of(each.second) < pod.object.spec.priority;
    });
    for (const decision::Victim& victim : evict.victims) {
      REQUIRE((takes_over || freed - pods_.at(victim.pod.name).gpus < pod.gpus));
    }
    plans_[evict.plan] = {evict.pod, evict.victims, evict.node};
    pod.waits = false;
    pod.node = evict.node;
  }
  void operator()(const decision::NotPrepared& not_made) {
    ++undone_;
    pods_.at(not_made.pod.name).waits = true;
    const auto ended = end_plan_of(not_made.pod.uid);
    REQUIRE(ended);
    const auto& [number, undone] = *ended;
    const k8s::Pod& undone_pod = pods_.at(not_made.pod.name).object;
    const std::string& why = not_made.message;
    INFO("undone: " << why);
    const auto some = [&](const auto& which) {
      return std::any_of(plans_.begin(), plans_.end(), [&](const auto& each) {
        return each.second.node == undone.node && which(each);
      });
    };
    if (why == "500") {
      CHECK(undone.refused);
    } else if (why == "a pod of higher priority gets its room") {
      CHECK(some([&](const auto& each) {
        return each.first > number && priority_of(each.second) > priority_of(undone);
      }));
    } else if (why == "a pod that was to leave the node stays") {
      // The plan that was to evict it is over.
      CHECK(std::any_of(spared_.begin(), spared_.end(), [&](const std::string& name) {
        const auto found = pods_.find(name);
        return found != pods_.end() && found->second.node == undone.node;
      }));
    } else if (why == "there is room elsewhere by now") {
      CHECK(s_.engine.explain(undone_pod).fitting_nodes > 0);
    } else {
      CHECK(why == "the node has changed");
      CHECK(cordoned_.contains(undone.node));
    }
  }
  template <typename Other>
  void operator()(const Other& /*decision*/) {}

 private:
  std::optional<std::pair<std::uint64_t, Plan>> end_plan_of(const std::string& uid) {
    const auto plan = std::find_if(plans_.begin(), plans_.end(),
                                   [&](const auto& each) { return each.second.pod.uid == uid; });
    if (plan == plans_.end()) return std::nullopt;
    auto over = std::pair(plan->first, plan->second);
    plans_.erase(plan);
    for (const decision::Victim& victim : over.second.victims) {
      const auto found = pods_.find(victim.pod.name);
      if (found != pods_.end() && !found->second.leaving) spared_.insert(victim.pod.name);
    }
    return over;
  }
  [[nodiscard]] std::int32_t priority_of(const Plan& plan) const {
    const auto found = pods_.find(plan.pod.name);
    return found == pods_.end() ? -1 : found->second.object.spec.priority;
  }
  [[nodiscard]] bool could_be_placed(const Pod& pod) {
    const auto explained = s_.engine.explain(pod.object);
    if (explained.fitting_nodes > 0) return true;
    for (int i = 0; i < kNodes; ++i) {
      int free = kGpus;
      for (const auto& [name, other] : pods_) {
        const bool stays = other.object.spec.priority >= pod.object.spec.priority;
        if (other.bound && other.node == name_of(i) && stays) free -= other.gpus;
      }
      const auto on = std::find_if(explained.nodes.begin(), explained.nodes.end(),
                                   [&](const auto& each) { return each.node == name_of(i); });
      if (on->code == Code::kUnschedulable && free >= pod.gpus) return true;
    }
    return false;
  }

  std::minstd_rand random_;
  Preempting s_;
  std::map<std::string, Pod> pods_;
  std::map<std::uint64_t, Plan> plans_;
  std::set<std::string> cordoned_;
  std::set<std::string> spared_;  // pods that were to be deleted for a plan that is over
  int made_ = 0;
  int evictions_ = 0;
  int undone_ = 0;
};

}  // namespace

TEST_CASE("random pods that preempt: no GPU twice, nobody lost, nobody evicted without need") {
  int evictions = 0;
  int undone = 0;
  for (const unsigned seed : seeds(8, 24)) {
    INFO("seed " << seed);
    RandomPreemption world(seed);
    world.run(1'500);
    evictions += world.evictions();
    undone += world.undone();
  }
  CHECK(evictions > 200);
  CHECK(undone > 50);
}
