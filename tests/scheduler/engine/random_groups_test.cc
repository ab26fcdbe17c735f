// Random groups of pods, with a model beside the engine.
#include "tests/scheduler/engine/quota_cluster.h"
#include "tests/support/catch.h"
#include "tests/support/seeds.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
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

enum class GroupKind : std::uint8_t {
  kPlain,
  kRules,     // pods have affinity and anti-affinity to those of their group
  kPrepares,  // some pods have claims that must be bound before them
};

// Groups and single pods in two namespaces, one of which has a quota. Their pods come one by one,
// are prepared, bound, refused, deleted and created anew, and nodes are cordoned. The model has
// only the engine's inputs and outputs.
class RandomGroups {
 public:
  RandomGroups(unsigned seed, GroupKind kind) : random_(seed), kind_(kind) {
    for (int i = 0; i < kNodes; ++i) upsert_node(i, false);
    s_.has(quota());
  }

  void run(int events) {
    for (int i = 0; i < events; ++i) {
      s_.now += std::chrono::milliseconds(random_() % 2'000);
      something_happens();
      decide();
    }
    // From now on everything is prepared at once.
    settles_ = true;
    for (const auto& [name, pod] : pods_) claim_is(name, "Bound");
    for (const auto& [plan, pod] : plans_) s_.prepared(plan);
    for (int i = 0; i < 50; ++i) {
      s_.now += 61s;
      decide();
    }
    for (const auto& [name, group] : groups_) {
      INFO(name);
      // What is held for others after a long wait may be what it would need.
      if (kind_ == GroupKind::kRules && group.namespace_ == "counted") continue;
      CHECK_FALSE(could_start(name));
    }
  }
  [[nodiscard]] int started() const { return started_; }
  [[nodiscard]] int given_up() const { return given_up_; }
  [[nodiscard]] int left_waiting() const {
    return static_cast<int>(std::count_if(groups_.begin(), groups_.end(), [this](const auto& each) {
      return each.second.min_count > 1 && placed(each.first) == 0;
    }));
  }

 private:
  static constexpr int kNodes = 6;
  static constexpr int kGpus = 8;
  static constexpr int kQuota = 24;
  struct Group {
    std::string namespace_;
    int min_count = 1;
    int to_come = 0;  // pods that its controller has not created yet
    int gpus = 1;
  };
  struct Pod {
    k8s::Pod object;
    std::string group;
    int gpus = 0;
    std::string node;      // empty: it waits
    std::string prepares;  // for that node; then `node` is empty
    bool bound = false;
    bool late = false;  // its group had started before
  };

  static k8s::GpuQuota quota() { return gpu_quota("q").of("counted").line(kH100, kQuota); }
  static std::string name_of(int node) { return "n" + std::to_string(node); }
  unsigned pick(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  void upsert_node(int i, bool cordoned) {
    NodeBuilder made = node(name_of(i))
                           .gpus(kGpus)
                           .product(kH100)
                           .cpu("64")
                           .labelled("zone", i % 2 == 0 ? "even" : "odd");
    if (cordoned) made.cordoned();
    nodes_.insert_or_assign(i, made);
    s_.has(nodes_.at(i));
  }
  [[nodiscard]] int placed(const std::string& group) const {
    return static_cast<int>(std::count_if(pods_.begin(), pods_.end(), [&](const auto& each) {
      return each.second.group == group && has_started(each.second);
    }));
  }
  // A late pod prepares by itself.
  static bool has_started(const Pod& pod) {
    return !pod.node.empty() || (pod.late && !pod.prepares.empty());
  }

  void something_happens() {
    switch (pick(kind_ == GroupKind::kPrepares ? 12 : 9)) {
      case 0:
        return begin_group();
      case 1:
      case 2:
      case 3:
        return create();
      case 4:
        return erase();
      case 5:
        return upsert_node(static_cast<int>(pick(kNodes)), pick(4) == 0);
      case 6:
        return end_group();
      case 9:
      case 10:
        return prepare();
      case 11:
        return change_claim();
      default:
        return answer();
    }
  }
  void begin_group() {
    if (groups_.size() > 8) return;
    Group& group = groups_["g" + std::to_string(++made_)];
    group.namespace_ = pick(2) == 0 ? "counted" : "free";
    const bool single = pick(3) == 0;
    group.min_count = single ? 1 : static_cast<int>(1 + pick(5));
    group.to_come = group.min_count + static_cast<int>(pick(2));
    group.gpus = static_cast<int>(1 + pick(8));
  }
  void create() {
    std::vector<std::string> incomplete;
    for (const auto& [name, group] : groups_) {
      if (group.to_come > 0) incomplete.push_back(name);
    }
    if (incomplete.empty()) return;
    const std::string name = incomplete[pick(incomplete.size())];
    Group& group = groups_.at(name);
    --group.to_come;
    const std::string pod_name = name + "-" + std::to_string(++made_);
    PodBuilder made = in(group.namespace_, pod_name, group.gpus);
    // Of some groups the pods differ.
    const int gpus = pick(6) == 0 ? 1 : group.gpus;
    made.gpus(gpus);
    made.annotated("gpu-scheduler.io/pod-group", name);
    made.annotated("gpu-scheduler.io/pod-group-min-count", std::to_string(group.min_count));
    if (kind_ == GroupKind::kPrepares && pick(2) == 0) made.labelled("binds-claim", pod_name);
    if (kind_ == GroupKind::kRules) {
      made.labelled("group", name);
      if (pick(2) == 0) made.away_from(pods_like({{"group", name}}, "kubernetes.io/hostname"));
      if (pick(3) == 0) made.near(pods_like({{"group", name}}, "zone"));
    }
    pods_[pod_name] = {.object = made, .group = name, .gpus = gpus, .node = {}, .prepares = {}};
    claim_is(pod_name, pick(4) == 0 ? "Bound" : "Pending");
    s_.has(pods_.at(pod_name).object);
  }
  void claim_is(const std::string& name, const std::string& phase) {
    if (kind_ != GroupKind::kPrepares) return;
    k8s::PersistentVolumeClaim made = claim(name, "");
    if (const auto pod = pods_.find(name); pod != pods_.end()) {
      made.metadata.namespace_ = pod->second.object.metadata.namespace_;
    }
    made.phase = phase;
    s_.has(made);
  }
  void change_claim() {
    if (pods_.empty()) return;
    const std::string name = std::next(pods_.begin(), pick(pods_.size()))->first;
    claim_is(name, std::vector<std::string>{"Bound", "Bound", "Pending", "Lost"}[pick(4)]);
  }
  // The outcome of some plan's writes.
  void prepare() {
    if (plans_.empty()) return;
    const auto plan = std::next(plans_.begin(), pick(plans_.size()));
    s_.prepared(plan->first, pick(6) == 0 ? "no" : "");
    if (pick(2) == 0) claim_is(plan->second, "Bound");
    plans_.erase(plan);
  }
  void erase(const std::string& name) {
    const Pod gone = pods_.at(name);
    pods_.erase(name);
    if (kind_ == GroupKind::kPrepares && pick(2) == 0) {
      k8s::Pod terminating = gone.object;
      terminating.spec.node_name = gone.bound ? gone.node : std::string();
      terminating.metadata.deletion_timestamp = std::chrono::floor<std::chrono::seconds>(s_.now);
      s_.has(terminating);
      if (pick(2) == 0) decide();
    }
    s_.pod_gone(gone.object);
  }
  // A pod is deleted, and its controller creates another.
  void erase() {
    if (pods_.empty()) return;
    const std::string name = std::next(pods_.begin(), pick(pods_.size()))->first;
    ++groups_.at(pods_.at(name).group).to_come;
    erase(name);
  }
  void end_group() {
    if (groups_.empty()) return;
    const std::string name = std::next(groups_.begin(), pick(groups_.size()))->first;
    std::vector<std::string> its;
    for (const auto& [pod_name, pod] : pods_) {
      if (pod.group == name) its.push_back(pod_name);
    }
    for (const std::string& pod : its) erase(pod);
    groups_.erase(name);
  }
  // The outcome of some bind.
  void answer() {
    std::vector<std::string> open;
    for (const auto& [name, pod] : pods_) {
      if (!pod.node.empty() && !pod.bound) open.push_back(name);
    }
    if (open.empty()) return;
    Pod& pod = pods_.at(open[pick(open.size())]);
    if (pick(4) == 0) {
      const std::string node = std::exchange(pod.node, {});
      return s_.bind_failed(pod.object, node);
    }
    pod.bound = true;
    k8s::Pod seen = pod.object;
    seen.spec.node_name = pod.node;
    s_.has(seen);
  }

  void decide() {
    std::map<std::string, int> before;
    for (const auto& [name, group] : groups_) before[name] = placed(name);
    for (auto& [name, pod] : pods_) pod.late = pod.late || before[pod.group] > 0;
    std::set<std::string> started_by_late;
    std::set<std::string> begun;  // by a late pod that prepares
    std::map<std::string, int> more;
    while (const auto decided = s_.engine.step(s_.now)) {
      if (const auto* prepare = std::get_if<decision::Prepare>(&*decided)) {
        Pod& pod = pods_.at(prepare->pod.name);
        REQUIRE((pod.node.empty() && pod.prepares.empty()));
        pod.prepares = prepare->node;
        plans_[prepare->plan] = prepare->pod.name;
        if (pod.late) begun.insert(pod.group);
        check_amounts(prepare->node);
        if (settles_) s_.prepared(prepare->plan);
      }
      if (const auto* not_prepared = std::get_if<decision::NotPrepared>(&*decided)) {
        // A plan may be undone before it was told.
        pods_.at(not_prepared->pod.name).prepares.clear();
        ++given_up_;
      }
      const auto* bind = std::get_if<decision::Bind>(&*decided);
      if (bind == nullptr) continue;
      Pod& pod = pods_.at(bind->pod.name);
      REQUIRE(pod.node.empty());
      REQUIRE((pod.prepares.empty() || pod.prepares == bind->node));
      pod.prepares.clear();
      pod.node = bind->node;
      ++more[pod.group];
      if (pod.late) started_by_late.insert(pod.group);
      check_amounts(bind->node);
    }
    for (auto& [name, pod] : pods_) pod.late = pod.late || begun.contains(pod.group);
    for (const auto& [name, bound] : more) {
      INFO(name);
      if (before[name] > 0 || started_by_late.contains(name)) continue;
      REQUIRE(bound >= groups_.at(name).min_count);
      if (groups_.at(name).min_count > 1) ++started_;
    }
  }
  void check_amounts(const std::string& node) {
    int on_node = 0;
    int counted = 0;
    for (const auto& [name, pod] : pods_) {
      if (pod.node == node || pod.prepares == node) on_node += pod.gpus;
      const bool has_node = !pod.node.empty() || !pod.prepares.empty();
      if (has_node && pod.object.metadata.namespace_ == "counted") counted += pod.gpus;
    }
    REQUIRE(on_node <= kGpus);
    REQUIRE(counted <= kQuota);
  }

  // Whether another engine, in which only this group waits, places a pod of it.
  [[nodiscard]] bool could_start(const std::string& group) const {
    QuotaCluster other = cluster(kind_);
    other.now = s_.now;
    for (const auto& [i, node] : nodes_) other.has(node);
    other.has(quota());
    for (const auto& [name, pod] : pods_) {
      REQUIRE(pod.prepares.empty());
      if (!pod.node.empty()) {
        other.bound(pod.object, pod.node);
      } else if (pod.group == group) {
        other.has(pod.object);
      }
    }
    while (const auto decided = other.engine.step(other.now)) {
      if (std::holds_alternative<decision::Bind>(*decided)) return true;
      if (std::holds_alternative<decision::Prepare>(*decided)) return true;
    }
    return false;
  }
  static QuotaCluster cluster(GroupKind kind) {
    if (kind == GroupKind::kRules) return QuotaCluster({"InterPodAffinity"});
    EngineOptions options;
    options.quota.hold_after = std::chrono::hours(1'000);  // never
    return QuotaCluster(options);
  }

  std::minstd_rand random_;
  GroupKind kind_;
  QuotaCluster s_ = cluster(kind_);
  std::map<int, k8s::Node> nodes_;
  std::map<std::string, Group> groups_;
  std::map<std::string, Pod> pods_;
  std::map<std::uint64_t, std::string> plans_;  // the pod of each that has not been answered
  bool settles_ = false;
  int made_ = 0;
  int started_ = 0;
  int given_up_ = 0;  // pods whose preparation failed, or that of another of their group
};

struct Enough {
  int started = 0;
  int waiting = 0;
  int given_up = -1;
};

void run(GroupKind kind, unsigned worlds, int events, const Enough& enough) {
  int started = 0;
  int waiting = 0;
  int given_up = 0;
  for (const unsigned seed : seeds(worlds, 3 * worlds)) {
    INFO("seed " << seed);
    RandomGroups world(seed, kind);
    world.run(events);
    started += world.started();
    waiting += world.left_waiting();
    given_up += world.given_up();
  }
  CHECK(started > enough.started);
  CHECK(waiting > enough.waiting);
  CHECK(given_up > enough.given_up);
}

}  // namespace

TEST_CASE("random groups: all or none, no GPU twice, none waits beside room") {
  run(GroupKind::kPlain, 12, 800, {.started = 100, .waiting = 5});
}

TEST_CASE("random groups with rules across nodes: all or none, no GPU twice") {
  run(GroupKind::kRules, 6, 400, {.started = 20, .waiting = 2});
}

TEST_CASE("random groups with pods to prepare: all are bound, or none is") {
  run(GroupKind::kPrepares, 12, 800, {.started = 50, .waiting = 2, .given_up = 100});
}
