// Random pods that preempt, with a model beside the engine.
#include "tests/scheduler/engine/preempting.h"
#include "tests/support/catch.h"
#include "tests/support/seeds.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <string>
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
    std::vector<PodRef> victims;
    bool answered = false;
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
        if (pick(4) == 0) made.cordoned();
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
    s_.pod_gone(object);
  }
  // The victims are deleted; or that fails, for the last of them.
  void answer(std::uint64_t number, Plan& plan, const std::string& failure) {
    if (plan.answered) return;
    plan.answered = true;
    for (const PodRef& victim : plan.victims) {
      const auto found = pods_.find(victim.name);
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
    for (const Decision& decided : s_.decisions()) std::visit(*this, decided);
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
    std::erase_if(plans_, [&](const auto& each) { return each.second.pod == bind.pod; });
  }
  void operator()(const decision::Evict& evict) {
    Pod& pod = pods_.at(evict.pod.name);
    REQUIRE(pod.waits);
    int freed = 0;
    for (const PodRef& victim : evict.victims) {
      const Pod& other = pods_.at(victim.name);
      REQUIRE(other.bound);
      REQUIRE(other.node == evict.node);
      REQUIRE(other.object.spec.priority < pod.object.spec.priority);
      REQUIRE_FALSE(other.leaving);
      freed += other.gpus;
    }
    evictions_ += static_cast<int>(evict.victims.size());
    plans_[evict.plan] = {evict.pod, evict.victims, false};
    pod.waits = false;
    pod.node = evict.node;
    // No one is evicted without need.
    for (const PodRef& victim : evict.victims)
      REQUIRE(freed - pods_.at(victim.name).gpus < pod.gpus);
  }
  void operator()(const decision::NotPrepared& not_made) {
    ++undone_;
    pods_.at(not_made.pod.name).waits = true;
    std::erase_if(plans_, [&](const auto& each) { return each.second.pod == not_made.pod; });
  }
  template <typename Other>
  void operator()(const Other& /*decision*/) {}

 private:
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
  int made_ = 0;
  int evictions_ = 0;
  int undone_ = 0;
};

}  // namespace

// Plans that are undone are counted, whether they had to be or not: preemption_test.cc has the gap.
TEST_CASE("random pods that preempt: no GPU twice, nobody lost, each victim needed when chosen") {
  int evictions = 0;
  int undone = 0;
  for (const unsigned seed : seeds(8)) {
    INFO("seed " << seed);
    RandomPreemption world(seed);
    world.run(1'500);
    evictions += world.evictions();
    undone += world.undone();
  }
  CHECK(evictions > 200);
  CHECK(undone > 50);
}
