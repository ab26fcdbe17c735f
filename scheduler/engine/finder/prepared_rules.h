// What the rules across nodes of a profile demand of the domains for one kind of pods, with the
// counts that they need.
#pragma once

#include "scheduler/engine/world/ruling.h"
#include "scheduler/engine/world/tally.h"
#include "scheduler/framework/profile.h"

#include <functional>
#include <memory>
#include <vector>

namespace sched {

class PreparedRules {
 public:
  using FindTally = std::function<std::shared_ptr<Tally>(const DomainCount&)>;
  PreparedRules() = default;  // none
  // The profile outlives them.
  PreparedRules(const Profile& profile, const k8s::Pod& pod, const FindTally& find_tally);

  [[nodiscard]] bool none() const { return rules_.empty(); }
  // Brings the counts up to date. O(changed nodes · counts).
  void catch_up();
  // Adds what they rule out, as the nodes are or would be. O(domains + nodes ruled out).
  void exclude(Ruling& all, const Trial* trial = nullptr) const;

 private:
  struct Rule {
    std::unique_ptr<PodRule> rule;
    std::vector<std::shared_ptr<Tally>> tallies;  // by count
  };
  std::vector<Rule> rules_;
};

}  // namespace sched
