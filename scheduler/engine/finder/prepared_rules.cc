#include "scheduler/engine/finder/prepared_rules.h"

#include "scheduler/base/random.h"
#include "scheduler/base/text_hash.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace sched {
namespace {

void append(std::vector<NodeSlot>& to, const std::vector<NodeSlot>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// For a label with at most this many domains, whole domains are ruled out; for other labels, single
// nodes.
constexpr std::size_t kFewDomains = 16;

// `counts`: of the tally, or in a trial.
void exclude_by(const DomainBound& bound, const DomainCounts& counts,
                const std::shared_ptr<Tally>& tally, Ruling& all) {
  const std::shared_ptr<DomainIndex>& domains = tally->domains();
  const Ruling::Why why{.plugin = bound.plugin, .reason = bound.reason, .code = bound.code};
  if (domains->size() == 0) {  // no node carries the label
    if (bound.needs_label) all.add(why, {}, std::vector<NodeSlot>());
    return;
  }
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
  // A rule that demands some pods mostly allows few domains; a rule that limits them mostly
  // excludes few. So the shorter list is made: the nodes that are left, or the nodes that are out.
  const bool wants_some = bound.at_least > 0;
  std::vector<NodeSlot> nodes;
  for (DomainId domain = 0; domain < domains->size(); ++domain) {
    if (allows(domain) == wants_some) append(nodes, domains->in(domain));
  }
  if (bound.needs_label != wants_some) append(nodes, domains->without());
  // If each domain is one node, they are usually sorted already.
  if (!std::is_sorted(nodes.begin(), nodes.end())) std::sort(nodes.begin(), nodes.end());
  if (wants_some) {
    all.add(why, {}, std::move(nodes));
  } else if (!nodes.empty()) {
    all.add(why, std::move(nodes), std::nullopt);
  }
}

// Empty: as they are.
std::vector<DomainCounts> counts_in(const Trial* trial,
                                    const std::vector<std::shared_ptr<Tally>>& tallies) {
  std::vector<DomainCounts> tried;
  if (trial == nullptr || trial->touched().empty()) return tried;
  for (const auto& tally : tallies) tried.push_back(tally->counts_in(*trial));
  return tried;
}

}  // namespace

PreparedRules::PreparedRules(const Profile& profile, const k8s::Pod& pod,
                             const PodDifference& trial, const FindTally& find_tally) {
  const auto find_all = [&](NeedsCounts& of) {
    std::vector<std::shared_ptr<Tally>> tallies;
    for (const DomainCount& count : of.counts()) tallies.push_back(find_tally(count));
    of.leave_to_counts();
    return tallies;
  };
  const bool any_may_rule = !trial.added().empty();
  for (const UsedConstraint& used : profile.constraints) {
    if (used.filters && (any_may_rule || used.plugin->is_ruled(pod))) {
      if (auto rule = used.plugin->rule_for(pod, trial)) {
        auto tallies = find_all(*rule);
        const std::string besides = used.plugin->reads_besides(pod);
        if (!besides.empty()) besides_ = mix64(besides_ ^ text_hash(besides));
        rules_.push_back(
            {.of = used.plugin.get(), .rule = std::move(rule), .tallies = std::move(tallies)});
      }
    }
    if (used.weight != 0 && (any_may_rule || used.plugin->prefers(pod))) {
      if (auto how = used.plugin->preference_for(pod, trial)) {
        auto tallies = find_all(*how);
        preferences_.push_back({.plugin = used.plugin->name(),
                                .weight = used.weight,
                                .how = std::move(how),
                                .tallies = std::move(tallies),
                                .tried = {}});
      }
    }
  }
}

std::size_t PreparedRules::domains() const {
  std::size_t all = 0;
  const auto add = [&](const auto& counts) {
    for (const auto& tally : counts.tallies) all += tally->domains()->size();
  };
  std::for_each(rules_.begin(), rules_.end(), add);
  std::for_each(preferences_.begin(), preferences_.end(), add);
  return all;
}

void PreparedRules::catch_up() {
  for (const Rule& each : rules_) {
    for (const auto& tally : each.tallies) tally->catch_up();
  }
  for (const Ruling::Preference& each : preferences_) {
    for (const auto& tally : each.tallies) tally->catch_up();
  }
}

template <typename Visit>
void PreparedRules::for_each_bound(const Rule& rule, const Trial* trial, Visit&& visit) {
  const std::vector<DomainCounts> tried = counts_in(trial, rule.tallies);
  std::vector<const DomainCounts*> counted;
  for (std::size_t i = 0; i < rule.tallies.size(); ++i) {
    counted.push_back(tried.empty() ? &rule.tallies[i]->counts() : &tried[i]);
  }
  for (const DomainBound& bound : rule.rule->bounds(counted)) {
    visit(bound, *counted[bound.count], rule.tallies[bound.count]);
  }
}

void PreparedRules::rule(const ClusterConstraint& of, Ruling& all, const Trial* trial) const {
  for (const Rule& each : rules_) {
    if (each.of != &of) continue;
    for_each_bound(each, trial,
                   [&](const DomainBound& bound, const DomainCounts& counts, const auto& tally) {
                     exclude_by(bound, counts, tally, all);
                   });
  }
}

std::vector<NodeSlot> PreparedRules::together_with(NodeSlot node, const Trial& trial) const {
  std::vector<NodeSlot> nodes;
  for (const Rule& each : rules_) {
    for_each_bound(
        each, &trial,
        [&](const DomainBound& bound, const DomainCounts& /*counts*/, const auto& tally) {
          const DomainId domain = tally->domains()->of(node);
          if (!nodes.empty() || bound.at_least <= 0 || domain == kNoDomain) return;
          nodes = tally->domains()->in(domain);
        });
  }
  return nodes;
}

void PreparedRules::prefer(Ruling& all, const Trial* trial) const {
  for (const Ruling::Preference& each : preferences_) {
    Ruling::Preference preference = each;
    preference.tried = counts_in(trial, each.tallies);
    all.add(std::move(preference));
  }
}

bool is_ruled(const Profile& profile, const k8s::Pod& pod) {
  return std::any_of(profile.constraints.begin(), profile.constraints.end(),
                     [&](const UsedConstraint& used) {
                       return (used.filters && used.plugin->is_ruled(pod)) ||
                              (used.weight != 0 && used.plugin->prefers(pod));
                     });
}

}  // namespace sched
