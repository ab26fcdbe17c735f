// Nodes and what pods take of them, changing at random, for tests of the finder.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/placement.h"
#include "scheduler/cluster/shapes.h"
#include "tests/scheduler/engine/harness.h"

#include <deque>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace tests {

// So many that a few changes are taken in one by one; among a dozen two make everything be looked
// at anew.
inline constexpr unsigned kManyNodes = 120;

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
  sched::ShapeRef shape() {
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

  sched::ResourceNames names;
  sched::Nodes nodes;
  sched::Shapes shapes;

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
    sched::NodeFacts facts = facts_of(made, names);
    facts.charge_class = random_() % 4;
    nodes.upsert(std::move(facts));
  }
  void claim() {
    PodBuilder pod = our_pod("q").gpus(static_cast<int>(random_() % 3)).cpu("1");
    if (random_() % 3 == 0) pod.host_port(80);
    claims_.emplace_back();
    claims_.back().emplace(nodes, nodes.slot_of(some_name()),
                           sched::Occupant{.claim = claim_of(shape_of(pod, names))});
  }
  void give_up_claim() {
    if (!claims_.empty()) claims_[random_() % claims_.size()].reset();
  }

  std::mt19937 random_;
  unsigned size_;
  std::deque<std::optional<sched::Placement>> claims_;
};

}  // namespace tests
