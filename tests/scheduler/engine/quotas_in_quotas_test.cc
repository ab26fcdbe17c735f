// Departments and teams through the engine: while pods come and go each gets what the rules give
// it, in turn, and none waits for what is there.
#include "tests/scheduler/engine/quota_cluster.h"
#include "tests/support/quota_rules.h"
#include "tests/support/seeds.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;
using quota::Room;

namespace {

class Departments {
 public:
  // Where quota is held, only limits are checked at each step: which pod is next depends on what is
  // held.
  Departments(unsigned seed, bool bounded, std::chrono::seconds hold_after = 10'000h)
      : random_(seed),
        s_(options(bounded, hold_after)),
        quotas_(random_, bounded),
        holds_(hold_after < 1h) {
    for (int i = 0; i < 4; ++i) {
      const std::string name = "h" + std::to_string(i);
      s_.has(h100(name));
      free_[name] = 8;
    }
    for (const k8s::GpuQuota& quota : quotas_.objects) s_.has(quota);
  }

  void run(int events) {
    for (int i = 0; i < events; ++i) {
      s_.now += 1s;
      if (pods_.size() > 40 || random_() % 3 == 0) {
        pod_gone();
      } else {
        pod_created();
      }
      decide();
      if (!holds_) check_rest();
    }
  }
  // No more pods are created, and each that runs ends.
  void drain() {
    do {
      for (auto each = pods_.begin(); each != pods_.end();) {
        const auto pod = each++;
        if (pod->second.node.empty()) continue;
        gone(pod);
        s_.now += 1s;
        decide();
      }
      s_.now += 1min;
      decide();
    } while (std::any_of(pods_.begin(), pods_.end(),
                         [](const auto& each) { return !each.second.node.empty(); }));
    check_rest();
  }
  int borrowed = 0;
  int waited = 0;

 private:
  struct Pod {
    k8s::Pod object;
    std::size_t quota = 0;
    int gpus = 0;
    std::string node;  // empty: it waits
  };
  static EngineOptions options(bool bounded, std::chrono::seconds hold_after) {
    EngineOptions made;
    made.quota.bound_cohorts = bounded;
    made.quota.hold_after = hold_after;
    return made;
  }

  void pod_created() {
    const std::size_t quota = quotas_.leaves[random_() % quotas_.leaves.size()];
    const int gpus = 1 + static_cast<int>(random_() % 3);
    const std::string name = "p" + std::to_string(++created_);
    PodBuilder made = in(RandomQuotas::name(quota), name, gpus);
    made.created_at(s_.now);
    pods_.emplace(name, Pod{made, quota, gpus, {}});
    s_.has(pods_.at(name).object);
  }
  void pod_gone() {
    if (pods_.empty()) return;
    gone(std::next(pods_.begin(), static_cast<int>(random_() % pods_.size())));
  }
  void gone(std::map<std::string, Pod>::iterator which) {
    const Pod& pod = which->second;
    if (!pod.node.empty()) {
      free_[pod.node] += pod.gpus;
      quotas_.rules.quotas[pod.quota].used -= pod.gpus;
    }
    s_.pod_gone(pod.object);
    pods_.erase(which);
  }

  void decide() {
    while (const auto decision = s_.engine.step(s_.now)) {
      const auto* bind = std::get_if<decision::Bind>(&*decision);
      if (bind == nullptr) continue;
      Pod& pod = pods_.at(bind->pod.name);
      INFO(bind->pod.name << " on " << bind->node);
      const Room room = quotas_.rules.room(pod.quota, pod.gpus);
      REQUIRE(room != Room::kNone);
      REQUIRE(free_.at(bind->node) >= pod.gpus);
      if (room == Room::kBorrowed) {
        ++borrowed;
        if (!holds_) check_nobody_is_owed_it(pod, free_.at(bind->node));
      }
      pod.node = bind->node;
      free_[pod.node] -= pod.gpus;
      quotas_.rules.quotas[pod.quota].used += pod.gpus;
    }
  }
  // The next pod of no other team would be within its guarantee there.
  void check_nobody_is_owed_it(const Pod& pod, int free) const {
    std::map<std::size_t, const Pod*> next;
    for (const auto& [name, other] : pods_) {
      if (!other.node.empty() || other.quota == pod.quota) continue;
      const Pod*& first = next[other.quota];
      if (first == nullptr || created(other) < created(*first)) first = &other;
    }
    for (const auto& [quota, other] : next) {
      if (other->gpus > free) continue;
      INFO(other->object.metadata.name << " is owed it");
      REQUIRE(quotas_.rules.room(quota, other->gpus) != Room::kGuaranteed);
    }
  }
  static k8s::Timestamp created(const Pod& pod) {
    return pod.object.metadata.creation_timestamp.value();
  }
  void check_rest() {
    for (const auto& [name, pod] : pods_) {
      if (!pod.node.empty()) continue;
      ++waited;
      if (quotas_.rules.room(pod.quota, pod.gpus) == Room::kNone) continue;
      for (const auto& [node, free] : free_) {
        INFO(name << " of q" << pod.quota << " waits for " << pod.gpus << ", and could go to "
                  << node << "\n"
                  << quotas_.rules.text());
        REQUIRE(free < pod.gpus);
      }
    }
  }

  std::mt19937 random_;
  QuotaCluster s_;
  RandomQuotas quotas_;
  bool holds_;
  std::map<std::string, int> free_;  // GPUs, by node
  std::map<std::string, Pod> pods_;
  int created_ = 0;
};

}  // namespace

TEST_CASE("teams of departments get what the rules give them, in turn, and none waits in vain") {
  const auto seeds = tests::seeds(12, 60);
  int borrowed = 0;
  int waited = 0;
  for (const unsigned seed : seeds) {
    const bool bounded = seed % 3 == 0;
    INFO("seed " << seed << (bounded ? ", bounded" : ""));
    Departments departments(seed, bounded);
    departments.run(400);
    borrowed += departments.borrowed;
    waited += departments.waited;
  }
  CHECK(borrowed > 40 * static_cast<int>(seeds.size()));
  CHECK(waited > 500 * static_cast<int>(seeds.size()));
}

TEST_CASE("what is held for pods of teams takes no department beyond its limit, and ends") {
  const auto seeds = tests::seeds(8, 60);
  int borrowed = 0;
  for (const unsigned seed : seeds) {
    const bool bounded = seed % 3 == 0;
    INFO("seed " << seed << (bounded ? ", bounded" : ""));
    Departments departments(seed, bounded, 20s);
    departments.run(400);
    departments.drain();
    borrowed += departments.borrowed;
  }
  CHECK(borrowed > 10 * static_cast<int>(seeds.size()));
}
