#include "scheduler/engine/world/tally.h"

#include <algorithm>

namespace sched {

void Tally::catch_up() {
  domains_->catch_up();
  // A user who may create pods may name many labels that no node has: these take no memory.
  if (domains_->size() == 0) return;
  forget_classes();
  if (position_ == nodes_.changes().end()) return;
  parts_.resize(nodes_.slots());
  nodes_.changes().since(position_, [&](NodeSlot slot) { review(slot); });
  position_ = nodes_.changes().end();
}

void Tally::forget_classes() {
  if (births_seen_ == classes_.births().end()) return;
  classes_.births().since(births_seen_, [&](NodeSlot id) {
    if (id >= amounts_.size()) amounts_.resize(id + std::size_t{1}, kNotAsked);
    amounts_[id] = kNotAsked;
  });
  births_seen_ = classes_.births().end();
}

void Tally::review(NodeSlot slot) {
  const Part before = parts_[slot];
  Part now;
  const DomainId domain = domains_->of(slot);
  if (domain != kNoDomain && what_->counts_on(nodes_.facts(slot))) {
    now = {.domain = domain, .amount = sum(nodes_.facts(slot), nodes_.occupants(slot))};
  }
  parts_[slot] = now;
  if (now.domain == before.domain) {
    if (now.amount != before.amount) {
      counts_.add(now.domain, std::int64_t{now.amount} - before.amount);
    }
    return;
  }
  if (before.domain != kNoDomain) counts_.remove_node(before.domain, before.amount);
  if (now.domain != kNoDomain) counts_.add_node(now.domain, now.amount);
}

DomainCounts Tally::counts_in(const Trial& trial) const {
  DomainCounts counts = counts_;
  for (const NodeSlot slot : trial.touched()) {
    const Part before = slot < parts_.size() ? parts_[slot] : Part{};
    if (before.domain != kNoDomain) counts.remove_node(before.domain, before.amount);
    if (!nodes_.present(slot)) continue;
    const NodeFacts& facts = trial.view(slot).facts;
    const DomainId domain = domains_->of(facts);
    if (domain == kNoDomain || !what_->counts_on(facts)) continue;
    counts.add_node(domain, sum(facts, trial.occupants(slot)));
  }
  return counts;
}

template <typename Occupants>
std::int32_t Tally::sum(const NodeFacts& node, const Occupants& occupants) const {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t all = what_->amount_of_node(node);
  for (const Occupant* occupant : occupants) all += amount(*occupant);
  return static_cast<std::int32_t>(std::clamp(all, -kMost, kMost));
}

std::int32_t Tally::amount(const Occupant& occupant) const {
  if (occupant.kind != Occupant::Kind::kPod || occupant.pod_class.none()) return 0;
  if (occupant.terminating && !counts_terminating_) return 0;
  const PodClass& pod_class = classes_[occupant.pod_class.id()];
  // The class's number may have belonged to another class when this was last brought up to date.
  if (births_seen_ != classes_.births().end()) return what_->amount(pod_class);
  const auto id = static_cast<std::size_t>(occupant.pod_class.id());
  if (id >= amounts_.size()) amounts_.resize(id + 1, kNotAsked);
  if (amounts_[id] == kNotAsked) amounts_[id] = what_->amount(pod_class);
  return amounts_[id];
}

}  // namespace sched
