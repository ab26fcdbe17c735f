// What a rule across nodes counts of nodes and of the pods on them, by domain, kept up to date by
// the change log.
//
// For each node, the tally stores the part that the node adds to its domain. When a node has
// changed, the sum over its pods is computed again, and the difference is added to the domain. So
// after a decision each tally computes only one node again.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/pod_classes.h"
#include "scheduler/engine/world/domains.h"
#include "scheduler/engine/world/trial.h"
#include "scheduler/framework/plugin.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace sched {

class Tally {
 public:
  // All arguments outlive it.
  Tally(const Nodes& nodes, const PodClasses& classes, std::shared_ptr<DomainIndex> domains,
        std::shared_ptr<const Counted> what)
      : nodes_(nodes),
        classes_(classes),
        domains_(std::move(domains)),
        what_(std::move(what)),
        counts_terminating_(what_->counts_terminating()) {}

  // Brings counts() and domains() up to date. O(changed nodes · pods on one).
  void catch_up();

  [[nodiscard]] const DomainCounts& counts() const { return counts_; }
  // The amount in the domain of that node; kNoAmount if it has no domain.
  [[nodiscard]] std::int64_t amount_at(NodeSlot slot) const {
    const DomainId domain = domains_->of(slot);
    return domain == kNoDomain ? kNoAmount : counts_.of(domain);
  }
  [[nodiscard]] const std::shared_ptr<DomainIndex>& domains() const { return domains_; }
  // The counts in the trial. O(domains + nodes touched · pods on one).
  [[nodiscard]] DomainCounts counts_in(const Trial& trial) const;

  // Bytes, approximately, without the index, which tallies share.
  [[nodiscard]] std::size_t memory() const {
    return sizeof(*this) + parts_.capacity() * sizeof(Part) +
           amounts_.capacity() * sizeof(std::int32_t) + counts_.memory() + what_->memory();
  }

 private:
  // What a node adds to its domain.
  struct Part {
    DomainId domain = kNoDomain;  // kNoDomain: the node does not count
    std::int32_t amount = 0;
  };
  static constexpr std::int32_t kNotAsked = std::numeric_limits<std::int32_t>::min();

  void review(NodeSlot slot);
  void forget_classes();
  // The part of a node with these occupants.
  template <typename Occupants>
  [[nodiscard]] std::int32_t sum(const NodeFacts& node, const Occupants& occupants) const;
  [[nodiscard]] std::int32_t amount(const Occupant& occupant) const;

  const Nodes& nodes_;
  const PodClasses& classes_;
  std::shared_ptr<DomainIndex> domains_;
  std::shared_ptr<const Counted> what_;
  bool counts_terminating_ = true;
  mutable std::vector<std::int32_t> amounts_;  // by class; computed when first needed
  std::vector<Part> parts_;                    // by slot
  DomainCounts counts_;
  ChangeLog::Position position_ = 0;
  ChangeLog::Position births_seen_ = 0;
};

}  // namespace sched
