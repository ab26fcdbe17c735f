// Random pods of teams that lend each other GPUs and take them back, with a model beside the
// engine.
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
#include <utility>
#include <variant>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

// Two departments of two teams each, which all lend what they do not use. A pod that is evicted is
// created anew by its controller. The model has only the engine's inputs and outputs.
class RandomReclaim {
 public:
  explicit RandomReclaim(unsigned seed)
      : random_(seed), is_bounded_(seed % 2 == 0), s_(how(), {}, options(is_bounded_)) {
    for (int i = 0; i < kNodes; ++i) s_.has(h100(name_of(i)));
    for (const std::string dept : {"d", "e"}) {
      for (const std::string number : {"1", "2"}) {
        const auto guaranteed = static_cast<int>(2 + pick(9));
        teams_[dept + number] = {dept, guaranteed};
        departments_[dept] += guaranteed;
      }
    }
    for (const auto& [name, guaranteed] : departments_) {
      s_.has(gpu_quota(name).in_cohort("c").line("H100", guaranteed));
    }
    for (const auto& [name, team] : teams_) {
      s_.has(gpu_quota(name).of(name).in_quota(team.department).line("H100", team.guaranteed));
    }
  }

  void run(int events) {
    for (int i = 0; i < events; ++i) {
      s_.now += std::chrono::milliseconds(pick(3'000));
      something_happens();
      decide();
    }
    // Then nothing more comes but those that are created anew: evictions come to an end.
    for (int i = 0; i < 200; ++i) {
      if (i == 100) settled_ = evictions_;
      s_.now += 60s;
      proceed();
      decide();
    }
    CHECK(evictions_ == settled_);
    for (const auto& [name, pod] : pods_) {
      INFO(name << " of " << pod.team);
      CHECK(pod.state != State::kMakesRoom);
      // In a bounded cohort what others use elsewhere can keep it waiting.
      if (pod.state == State::kWaits && !is_bounded_) CHECK_FALSE(could_reclaim(pod));
    }
  }
  [[nodiscard]] int evictions() const { return evictions_; }
  [[nodiscard]] int reclaimed() const { return reclaimed_; }

 private:
  static constexpr int kNodes = 3;
  static constexpr int kGpus = 8;
  static constexpr std::size_t kMostPods = 30;
  struct Team {
    std::string department;
    int guaranteed = 0;
  };
  enum class State : std::uint8_t { kWaits, kMakesRoom, kRuns, kLeaves };
  struct Pod {
    k8s::Pod object;
    std::string team;
    int gpus = 0;
    std::int32_t priority = 0;
    State state = State::kWaits;
    std::string node{};
    Time started{};
  };

  // A plan with victims that are still to be deleted.
  struct Plan {
    std::string pod;
    std::vector<std::string> victims;
  };

  static Preemption how() {
    return {.evicts_bare_pods = false,
            .violates_budgets = false,
            .reclaims = Preemption::Reclaims::kAny};
  }
  // Nothing is held, which the model does not know.
  static EngineOptions options(bool is_bounded) {
    EngineOptions options;
    options.quota.hold_after = 1'000h;
    options.quota.bound_cohorts = is_bounded;
    return options;
  }
  static std::string name_of(int node) { return "n" + std::to_string(node); }
  unsigned pick(std::size_t n) { return static_cast<unsigned>(random_() % n); }

  void something_happens() {
    switch (pick(4)) {
      case 0:
      case 1: {
        if (pods_.size() >= kMostPods) return proceed();
        const auto team = std::next(teams_.begin(), pick(teams_.size()));
        return create(team->first, 1 << pick(4), static_cast<std::int32_t>(pick(3)));
      }
      case 2: {
        if (pods_.empty()) return;
        const std::string name = std::next(pods_.begin(), pick(pods_.size()))->first;
        if (pods_.at(name).state != State::kLeaves) return ends(name);
        return;
      }
      default:
        return proceed();
    }
  }
  void create(const std::string& team, int gpus, std::int32_t priority) {
    const std::string name = "p" + std::to_string(++made_);
    Pod pod{owned(in(team, name, gpus).priority(priority)), team, gpus, priority};
    s_.has(pod.object);
    pods_.emplace(name, std::move(pod));
  }
  void ends(const std::string& name) {
    const k8s::Pod object = pods_.at(name).object;
    end_plan_of(name);
    pods_.erase(name);
    s_.pod_gone(object);
  }
  // What was decided is done; some of those that leave are gone, and created anew.
  void proceed() {
    for (const auto& [number, plan] : std::exchange(plans_, {})) {
      for (const std::string& name : plan.victims) {
        const auto found = pods_.find(name);
        if (found == pods_.end()) continue;
        found->second.object.metadata.deletion_timestamp =
            std::chrono::floor<std::chrono::seconds>(s_.now + 30s);
        s_.has(found->second.object);
      }
      s_.prepared(number);
    }
    std::vector<std::string> leaving;
    for (const auto& [name, pod] : pods_) {
      if (pod.object.metadata.deletion_timestamp && pick(2) == 0) leaving.push_back(name);
    }
    for (const std::string& name : leaving) {
      const Pod pod = pods_.at(name);
      ends(name);
      create(pod.team, pod.gpus, pod.priority);
    }
  }
  // Nobody is deleted for the pod any more, but for those that others wait for, too.
  void end_plan_of(const std::string& pod) {
    std::erase_if(plans_, [&](const auto& each) { return each.second.pod == pod; });
    for (auto& [name, other] : pods_) {
      if (other.state != State::kLeaves || other.object.metadata.deletion_timestamp) continue;
      const bool goes = std::any_of(plans_.begin(), plans_.end(), [&](const auto& each) {
        const auto& victims = each.second.victims;
        return std::find(victims.begin(), victims.end(), name) != victims.end();
      });
      if (!goes) other.state = State::kRuns;
    }
  }
  void decide() {
    while (const auto decided = s_.engine.step(s_.now)) std::visit(*this, *decided);
  }

  // What the team, or the department, uses when all that leave have left.
  [[nodiscard]] int used(const std::string& by) const {
    int sum = 0;
    for (const auto& [name, pod] : pods_) {
      const bool counts = pod.team == by || teams_.at(pod.team).department == by;
      if (counts && (pod.state == State::kRuns || pod.state == State::kMakesRoom)) sum += pod.gpus;
    }
    return sum;
  }
  // What pods of its team, of lower priority, may have been going to get on the node.
  [[nodiscard]] int overtaken_by(const Pod& pod, const std::string& node) const {
    int sum = 0;
    for (const auto& [name, other] : pods_) {
      const bool is_there = other.state == State::kMakesRoom && other.node == node;
      if (is_there && other.team == pod.team && other.priority < pod.priority) sum += other.gpus;
    }
    return sum;
  }
  // Whether the team of the victim may lose it to a pod of that team.
  [[nodiscard]] bool has_borrowed(const Pod& victim, const std::string& for_team) const {
    const Team& team = teams_.at(victim.team);
    if (used(victim.team) <= team.guaranteed) return false;
    return team.department == teams_.at(for_team).department ||
           used(team.department) > departments_.at(team.department);
  }
  // Whether the pod may take back from that team, whatever the priorities, while its department
  // uses so much.
  [[nodiscard]] bool owns(const Pod& pod, const std::string& from, int used_by_department) const {
    const Team& team = teams_.at(pod.team);
    if (pod.gpus > team.guaranteed) return false;
    return team.department == teams_.at(from).department ||
           used_by_department + pod.gpus <= departments_.at(team.department);
  }
  // Whether all of what others have borrowed on some node, and its own pods of lower priority
  // there, would be enough for the pod to be within its guarantee.
  [[nodiscard]] bool could_reclaim(const Pod& pod) {
    const int used_by_department = used(teams_.at(pod.team).department);
    for (int i = 0; i < kNodes; ++i) {
      std::vector<Pod*> gone;
      int free = kGpus;
      std::vector<std::pair<std::int32_t, std::string>> on;
      for (const auto& [name, other] : pods_) {
        if (other.state != State::kRuns || other.node != name_of(i)) continue;
        free -= other.gpus;
        on.emplace_back(other.priority, name);
      }
      std::sort(on.begin(), on.end());
      for (const auto& [priority, name] : on) {
        Pod& other = pods_.at(name);
        const bool goes = other.team == pod.team ? priority < pod.priority
                                                 : has_borrowed(other, pod.team) &&
                                                       (priority < pod.priority ||
                                                        owns(pod, other.team, used_by_department));
        if (!goes) continue;
        other.state = State::kLeaves;
        gone.push_back(&other);
        free += other.gpus;
      }
      const bool is_within = used(pod.team) + pod.gpus <= teams_.at(pod.team).guaranteed;
      for (Pod* other : gone) other->state = State::kRuns;
      if (is_within && free >= pod.gpus) return true;
    }
    return false;
  }

 public:
  void operator()(const decision::Bind& bind) {
    Pod& pod = pods_.at(bind.pod.name);
    int on_node = pod.gpus;
    for (const auto& [name, other] : pods_) {
      const bool is_there = other.state == State::kRuns || other.state == State::kLeaves;
      if (is_there && other.node == bind.node) on_node += other.gpus;
    }
    REQUIRE(on_node <= kGpus);
    end_plan_of(bind.pod.name);
    pod.state = State::kRuns;
    pod.node = bind.node;
    pod.object.spec.node_name = bind.node;
    pod.object.status.start_time = std::chrono::floor<std::chrono::seconds>(s_.now);
    s_.has(pod.object);
  }
  void operator()(const decision::Evict& evict) {
    Pod& pod = pods_.at(evict.pod.name);
    REQUIRE(pod.state == State::kWaits);
    bool takes_back = false;
    const int used_by_department = used(teams_.at(pod.team).department);
    std::vector<std::string> victims;
    // The least important first, as quotas lose them.
    for (auto each = evict.victims.rbegin(); each != evict.victims.rend(); ++each) {
      Pod& victim = pods_.at(each->pod.name);
      REQUIRE(victim.node == evict.node);
      REQUIRE(each->reclaimed == (victim.priority >= pod.priority));
      victims.push_back(each->pod.name);
      // Already a victim of the plan that this pod takes over.
      if (victim.state == State::kLeaves && !victim.object.metadata.deletion_timestamp) {
        REQUIRE_FALSE(each->reclaimed);
        continue;
      }
      REQUIRE(victim.state == State::kRuns);
      if (victim.team == pod.team) {
        REQUIRE_FALSE(each->reclaimed);
      } else {
        REQUIRE(has_borrowed(victim, pod.team));
        if (each->reclaimed) REQUIRE(owns(pod, victim.team, used_by_department));
      }
      takes_back = takes_back || victim.team != pod.team;
      reclaimed_ += each->reclaimed ? 1 : 0;
      ++evictions_;
    }
    for (const std::string& name : victims) pods_.at(name).state = State::kLeaves;
    if (takes_back) {
      REQUIRE(used(pod.team) + pod.gpus - overtaken_by(pod, evict.node) <=
              teams_.at(pod.team).guaranteed);
    }
    pod.state = State::kMakesRoom;
    pod.node = evict.node;
    plans_[evict.plan] = {evict.pod.name, victims};
  }
  void operator()(const decision::NotPrepared& undone) {
    Pod& pod = pods_.at(undone.pod.name);
    REQUIRE(pod.state == State::kMakesRoom);
    pod.state = State::kWaits;
    end_plan_of(undone.pod.name);
  }
  template <typename Other>
  void operator()(const Other& /*decision*/) {}

 private:
  std::minstd_rand random_;
  bool is_bounded_;
  Preempting s_;
  std::map<std::string, Team> teams_;
  std::map<std::string, int> departments_;  // what they are guaranteed
  std::map<std::string, Pod> pods_;
  std::map<std::uint64_t, Plan> plans_;
  int made_ = 0;
  int evictions_ = 0;
  int reclaimed_ = 0;
  int settled_ = 0;
};

}  // namespace

TEST_CASE("random pods that reclaim: no guarantee lost, no evictions without end") {
  int evictions = 0;
  int reclaimed = 0;
  for (const unsigned seed : seeds(8, 24)) {
    INFO("seed " << seed);
    RandomReclaim world(seed);
    world.run(1'000);
    evictions += world.evictions();
    reclaimed += world.reclaimed();
  }
  CHECK(evictions > 200);
  CHECK(reclaimed > 100);
}
