#include "scheduler/engine/finder/prepared_rules.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace sched {
namespace {

void append(std::vector<NodeSlot>& to, const std::vector<NodeSlot>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Of a label with so many domains at most the domains are ruled out, of others their nodes.
constexpr std::size_t kFewDomains = 16;

// `counts`: of the tally, or in a trial.
void exclude_by(const DomainBound& bound, const DomainCounts& counts,
                const std::shared_ptr<Tally>& tally, Ruling& all) {
  const std::shared_ptr<DomainIndex>& domains = tally->domains();
  const Ruling::Why why{.plugin = bound.plugin, .reason = bound.reason, .code = bound.code};
  const auto allows = [&](DomainId domain) {
    const std::int64_t amount = counts.of(domain);
    return bound.at_least <= amount && amount <= bound.at_most;
  };
  if (domains->size() <= kFewDomains) {
    Ruling::ByDomain out{.domains = domains, .out = {}, .without = bound.needs_label};
    bool some = out.without && !domains->without().empty();
    for (DomainId domain = 0; domain < domains->size(); ++domain) {
      out.out.push_back(!allows(domain));
      some = some || (out.out.back() && !domains->in(domain).empty());
    }
    if (some) all.add(why, std::move(out));
    return;
  }
  if (&counts == &tally->counts() && domains->one_node_each()) {
    all.add(why, Ruling::ByAmount{.tally = tally,
                                  .at_least = bound.at_least,
                                  .at_most = bound.at_most,
                                  .without = bound.needs_label});
    return;
  }
  // Where something has to be there, it is in few domains; where it must not be too much, it is in
  // few as well. The shorter list is made.
  const bool wants_some = bound.at_least > 0;
  std::vector<NodeSlot> nodes;
  for (DomainId domain = 0; domain < domains->size(); ++domain) {
    if (allows(domain) == wants_some) append(nodes, domains->in(domain));
  }
  if (bound.needs_label != wants_some) append(nodes, domains->without());
  // One node a domain: they are in order.
  if (!std::is_sorted(nodes.begin(), nodes.end())) std::sort(nodes.begin(), nodes.end());
  if (wants_some) {
    all.add(why, {}, std::move(nodes));
  } else if (!nodes.empty()) {
    all.add(why, std::move(nodes), std::nullopt);
  }
}

}  // namespace

PreparedRules::PreparedRules(const Profile& profile, const k8s::Pod& pod,
                             const FindTally& find_tally) {
  for (const auto& constraint : profile.constraints) {
    if (!constraint->is_ruled(pod)) continue;
    Rule made{.rule = constraint->rule_for(pod), .tallies = {}};
    if (made.rule == nullptr) continue;
    for (const DomainCount& count : made.rule->counts()) made.tallies.push_back(find_tally(count));
    rules_.push_back(std::move(made));
  }
}

void PreparedRules::catch_up() {
  for (const Rule& each : rules_) {
    for (const auto& tally : each.tallies) tally->catch_up();
  }
}

void PreparedRules::exclude(Ruling& all, const Trial* trial) const {
  const bool differs = trial != nullptr && !trial->touched().empty();
  for (const Rule& each : rules_) {
    std::vector<DomainCounts> tried;
    std::vector<const DomainCounts*> counted;
    tried.reserve(each.tallies.size());
    for (const auto& tally : each.tallies) {
      if (differs) tried.push_back(tally->counts_in(*trial));
      counted.push_back(differs ? &tried.back() : &tally->counts());
    }
    for (const DomainBound& bound : each.rule->bounds(counted)) {
      exclude_by(bound, *counted[bound.count], each.tallies[bound.count], all);
    }
  }
}

}  // namespace sched
