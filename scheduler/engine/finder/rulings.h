// Computes the rulings of rules across nodes (world/ruling.h).
//
// For each kind of waiting pods, the rules and the counts that they need are kept; the counts
// follow the change log. What is kept can always be computed again. For a pod that a question is
// about, it is computed and not kept.
#pragma once

#include "scheduler/engine/finder/prepared_rules.h"
#include "scheduler/engine/world/domains.h"
#include "scheduler/engine/world/ruling.h"
#include "scheduler/engine/world/tally.h"
#include "scheduler/engine/world/waiting_pod.h"
#include "scheduler/engine/world/world.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace sched {

class Rulings {
 public:
  // The most kinds of pods for which rules are kept.
  static constexpr std::size_t kMostKinds = 4'096;

  // `world` outlives it. `memory`: how many bytes the counts may take (EngineMemory::counts).
  Rulings(const World& world, std::size_t memory) : world_(world), memory_limit_(memory) {}

  // For a pod that waits, with the nodes on which its binding was refused. O(nodes that changed
  // since · counts + domains + nodes ruled out).
  [[nodiscard]] Ruling of(const WaitingPod& pod);
  // The same in a world without some of the pods on nodes. O(domains + nodes ruled out · pods that
  // are gone); where a rule reads what its constraint stores of pods, as with().
  [[nodiscard]] Ruling without(const WaitingPod& pod, const Trial& trial);
  // The same in a world with some more pods. O(rules of these + domains + nodes ruled out).
  [[nodiscard]] Ruling with(const WaitingPod& pod, const Trial& trial);
  // As PreparedRules::together_with(), with the pods that the trial adds. O(nodes) for counts that
  // are not kept yet.
  [[nodiscard]] std::vector<NodeSlot> together_with(const WaitingPod& pod, NodeSlot node,
                                                    const Trial& trial);
  // What without() and with() cost, in domains that are looked at.
  [[nodiscard]] std::size_t cost_without(const WaitingPod& pod);
  // For any pod, in that world; nothing is kept. O(nodes · counts).
  [[nodiscard]] Ruling anew(const k8s::Pod& pod, std::size_t profile, const RefusedBinds& refused,
                            const Trial& trial) const;

  // As Finder::searched(): how many nodes were counted to make new counts, and looked at because a
  // constraint has to be asked about each.
  [[nodiscard]] std::uint64_t searched() const { return searched_; }
  // How many counts are kept: for tests.
  [[nodiscard]] std::size_t tallies() const { return tallies_.size(); }

 private:
  using Key =
      std::tuple<std::size_t, PodClassId, ShapeId, std::string>;  // the last: what is read besides
  struct Kind {
    Key key;
    PodClassRef pod_class;  // so that the ids stay theirs
    ShapeRef shape;
    std::vector<std::uint64_t> versions;  // of the rules of the profile's constraints
    PreparedRules rules;
  };
  // `trial`: null: the world as it is.
  [[nodiscard]] Ruling of(const WaitingPod& pod, const Trial* trial,
                          const PodDifference& difference);
  const PreparedRules& rules_of(const WaitingPod& pod);
  [[nodiscard]] std::shared_ptr<Tally> tally(const DomainCount& count);
  void forget_some();
  // Bytes of the counts in use; erases the entries of the others. O(counts).
  [[nodiscard]] std::size_t memory();

  const World& world_;
  std::size_t memory_limit_;
  std::uint64_t searched_ = 0;
  Domains domains_{world_.nodes};
  // By DomainCount::id. A tree: users choose what is in the ids, and could make hashes collide.
  std::map<std::string, std::weak_ptr<Tally>> tallies_;
  std::list<Kind> kinds_;  // the last asked about first
  PreparedRules tried_;    // by with(), so that the counts are kept from one pod to the next
  std::size_t kinds_since_counted_ = 0;  // kinds added since memory() was last called
  std::map<Key, std::list<Kind>::iterator> by_key_;
};

}  // namespace sched
