// What the rules across nodes of a profile demand of the domains for one kind of pods, and what
// they prefer, with the counts that they need.
#pragma once

#include "scheduler/engine/world/ruling.h"
#include "scheduler/engine/world/tally.h"
#include "scheduler/framework/profile.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace sched {

class PreparedRules {
 public:
  using FindTally = std::function<std::shared_ptr<Tally>(const DomainCount&)>;
  PreparedRules() = default;  // none
  // The profile outlives them. `trial`: the pods that differ in the world of all later questions.
  PreparedRules(const Profile& profile, const k8s::Pod& pod, const PodDifference& trial,
                const FindTally& find_tally);

  // Whether they rule nothing out, ever.
  [[nodiscard]] bool none() const { return rules_.empty(); }
  // What the constraints that rule something out read besides the pod's class, as a hash; 0:
  // nothing.
  [[nodiscard]] std::uint64_t besides() const { return besides_; }
  // Of all counts together.
  [[nodiscard]] std::size_t domains() const;
  // Brings the counts up to date. O(changed nodes · counts).
  void catch_up();
  // Adds what the rule of that constraint rules out, as the nodes are or would be. O(domains +
  // nodes ruled out).
  void rule(const ClusterConstraint& of, Ruling& all, const Trial* trial) const;
  // For a rule that demands pods to be counted in the domain, as required affinity to pods alike
  // does: the nodes, ascending, of that node's domain. If the first pod is on that node, the others
  // have to be on one of these. With several such rules, those of the first; empty: there is none.
  // O(domains + nodes of the domain).
  [[nodiscard]] std::vector<NodeSlot> together_with(NodeSlot node, const Trial& trial) const;
  // Adds what all of them prefer.
  void prefer(Ruling& all, const Trial* trial) const;

 private:
  struct Rule {
    const ClusterConstraint* of = nullptr;
    std::unique_ptr<PodRule> rule;
    std::vector<std::shared_ptr<Tally>> tallies;  // by count
  };
  // Calls visit(bound, counts, tally) for each bound of the rule, as the nodes are or would be.
  template <typename Visit>
  static void for_each_bound(const Rule& rule, const Trial* trial, Visit&& visit);

  std::vector<Rule> rules_;
  std::uint64_t besides_ = 0;
  std::vector<Ruling::Preference> preferences_;
};

// Whether there is a rule or a preference of the profile for the pod.
[[nodiscard]] bool is_ruled(const Profile& profile, const k8s::Pod& pod);

}  // namespace sched
