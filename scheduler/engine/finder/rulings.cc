#include "scheduler/engine/finder/rulings.h"

#include "scheduler/base/random.h"
#include "scheduler/base/text_hash.h"
#include "scheduler/framework/pod_requests.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace sched {
namespace {

// Whether the rules for that pod may differ from those made in these versions of the profile's
// constraints. Makes them the present ones; empty: no rules were made yet.
bool rules_changed(const Profile& profile, const k8s::Pod& pod,
                   std::vector<std::uint64_t>& versions) {
  bool changed = versions.empty();
  versions.resize(profile.constraints.size());
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const ClusterConstraint& constraint = *profile.constraints[i].plugin;
    const std::uint64_t since = std::exchange(versions[i], constraint.rules_version());
    if (since == versions[i]) continue;
    changed = changed || constraint.rules_changed(pod, since);
  }
  return changed;
}

std::string read_besides(const Profile& profile, const k8s::Pod& pod) {
  std::string all;
  for (const UsedConstraint& used : profile.constraints) all += used.plugin->reads_besides(pod);
  return all;
}

bool some_rule_reads_pods(const Profile& profile, const k8s::Pod& pod) {
  return std::any_of(profile.constraints.begin(), profile.constraints.end(),
                     [&](const UsedConstraint& used) { return used.plugin->rule_reads_pods(pod); });
}

// Adds a rule of a constraint that says which nodes are left.
class Excluder {
 public:
  // `searched`: increased by the looks at nodes, as Finder::searched().
  Excluder(const Nodes& nodes, Domains& domains, Ruling& all, std::uint64_t& searched)
      : nodes_(nodes), domains_(domains), all_(all), searched_(searched) {}

  void add(const Exclusion& exclusion) {
    cost_ = exclusion.cost;
    why_ = {exclusion.plugin, exclusion.reason, exclusion.code, exclusion.also_told};
    std::visit(*this, exclusion.allowed);
  }

  void operator()(const k8s::NodeSelector* selector) const {
    all_.add(why_, {}, domains_.nodes_matching(*selector));
  }
  void operator()(const NamedNodes& named) const {
    std::vector<NodeSlot> slots;
    for (const std::string& name : named.names) {
      const NodeSlot slot = nodes_.find(name);
      if (slot != kNoSlot) slots.push_back(slot);
    }
    if (named.all_others) return all_.add(why_, std::move(slots), std::nullopt);
    std::sort(slots.begin(), slots.end());
    all_.add(why_, {}, std::move(slots));
  }
  void operator()(const std::function<bool(const NodeFacts&)>& holds) const {
    searched_ += nodes_.size() * cost_;
    std::vector<NodeSlot> out;
    for (NodeSlot slot = 0; slot < nodes_.slots(); ++slot) {
      if (nodes_.present(slot) && !holds(nodes_.facts(slot))) out.push_back(slot);
    }
    all_.add(why_, std::move(out), std::nullopt);
  }

 private:
  const Nodes& nodes_;
  Domains& domains_;
  Ruling& all_;
  std::uint64_t& searched_;
  Ruling::Why why_;
  std::size_t cost_ = 0;  // of asking about a node
};

// Adds what each constraint of the profile rules out, in the profile's order, which is also the
// order of reasons. For each: the nodes that it excludes, if it is one of `concerned` (in the same
// order); then its rule.
void rule(const Profile& profile, const k8s::Pod& pod, const Constraints& concerned,
          const PreparedRules* rules, Excluder excluder, const Trial* trial,
          const PodDifference& difference, Ruling& all) {
  auto next = concerned.begin();
  for (const UsedConstraint& used : profile.constraints) {
    if (next != concerned.end() && *next == used.plugin.get()) {
      ++next;
      const std::vector<Exclusion> exclusions = used.plugin->excludes(pod, difference);
      for (const Exclusion& exclusion : exclusions) excluder.add(exclusion);
      if (!exclusions.empty()) {
        all.besides = mix64(all.besides ^ text_hash(used.plugin->excludes_by(pod)));
      }
    }
    if (rules != nullptr) rules->rule(*used.plugin, all, trial);
  }
  if (rules != nullptr) rules->prefer(all, trial);
}

// Adds the nodes that are left out for a while, because binds or pods failed there.
void exclude_by_name(const Nodes& nodes, const std::vector<std::string>& names, Ruling::Why why,
                     Ruling& all) {
  std::vector<NodeSlot> out;
  for (const std::string& name : names) {
    const NodeSlot slot = nodes.find(name);
    if (slot != kNoSlot) out.push_back(slot);
  }
  if (out.empty()) return;
  all.add(why, std::move(out), std::nullopt);
  all.of_pod = true;
}

void exclude_for_a_while(const World& world, const k8s::Pod& pod, const RefusedBinds& refused,
                         Ruling& all) {
  // DefaultBinder is the name of kube-scheduler's plugin that binds.
  exclude_by_name(world.nodes, refused.left_out(),
                  {"DefaultBinder", "node(s) were left out after the pod could not be bound there"},
                  all);
  if (world.topology_rejections.none()) return;
  // Without a filter that has limits no rejection is recorded.
  exclude_by_name(world.nodes, world.topology_rejections.left_out(requests_by_name(pod)),
                  {filter_with_rejection_limits(world.profiles)->name(),
                   "node(s) rejected a pod with the same requests (TopologyAffinityError)"},
                  all);
}

}  // namespace

Ruling Rulings::of(const WaitingPod& pod) { return of(pod, nullptr, {}); }

Ruling Rulings::without(const WaitingPod& pod, const Trial& trial) {
  if (some_rule_reads_pods(world_.profiles[pod.profile], pod.pod)) return with(pod, trial);
  return of(pod, &trial, trial.difference());
}

Ruling Rulings::with(const WaitingPod& pod, const Trial& trial) {
  const Profile& profile = world_.profiles[pod.profile];
  const PodDifference difference = trial.difference();
  PreparedRules rules(profile, pod.pod, difference,
                      [this](const DomainCount& count) { return tally(count); });
  tried_ = std::move(rules);
  tried_.catch_up();
  Ruling all;
  all.of_class = !tried_.none();
  rule(profile, pod.pod, pod.constraints, &tried_, {world_.nodes, domains_, all, searched_}, &trial,
       difference, all);
  exclude_for_a_while(world_, pod.pod, pod.refused_binds, all);
  return all;
}

std::vector<NodeSlot> Rulings::together_with(const WaitingPod& pod, NodeSlot node,
                                             const Trial& trial) {
  PreparedRules rules(world_.profiles[pod.profile], pod.pod, trial.difference(),
                      [this](const DomainCount& count) { return tally(count); });
  rules.catch_up();
  return rules.together_with(node, trial);
}

std::size_t Rulings::cost_without(const WaitingPod& pod) {
  // To name a node that a constraint excludes, and to find it by its name.
  constexpr std::size_t kCostOfName = 15;
  const Profile& profile = world_.profiles[pod.profile];
  const std::size_t cost = is_ruled(profile, pod.pod) ? rules_of(pod).domains() : 0;
  if (!some_rule_reads_pods(profile, pod.pod)) return cost;
  // In a trial such a constraint may have no rule, and exclude nodes in its place.
  const Ruling ruling = of(pod);
  std::size_t out = 0;
  for (NodeSlot slot = 0; slot < world_.nodes.slots(); ++slot) {
    if (world_.nodes.present(slot) && ruling.find(slot) != nullptr) ++out;
  }
  return cost + kCostOfName * out;
}

Ruling Rulings::of(const WaitingPod& pod, const Trial* trial, const PodDifference& difference) {
  Ruling all;
  const Profile& profile = world_.profiles[pod.profile];
  const PreparedRules* rules = is_ruled(profile, pod.pod) ? &rules_of(pod) : nullptr;
  if (rules != nullptr) {
    all.of_class = !rules->none();
    all.besides = rules->besides();
  }
  if (rules != nullptr || !pod.constraints.empty()) {
    rule(profile, pod.pod, pod.constraints, rules, {world_.nodes, domains_, all, searched_}, trial,
         difference, all);
  }
  exclude_for_a_while(world_, pod.pod, pod.refused_binds, all);
  return all;
}

Ruling Rulings::anew(const k8s::Pod& pod, std::size_t profile, const RefusedBinds& refused,
                     const Trial& trial) const {
  Ruling all;
  const PodDifference difference = trial.difference();
  Domains domains(world_.nodes);
  PreparedRules rules(world_.profiles[profile], pod, difference, [&](const DomainCount& count) {
    return std::make_shared<Tally>(world_.nodes, world_.classes,
                                   domains.of(count.key, count.by_node), count.what);
  });
  rules.catch_up();
  std::uint64_t searched = 0;  // not kept, as all else of this question
  rule(world_.profiles[profile], pod, world_.constraints_for(pod, profile), &rules,
       {world_.nodes, domains, all, searched}, &trial, difference, all);
  exclude_for_a_while(world_, pod, refused, all);
  return all;
}

const PreparedRules& Rulings::rules_of(const WaitingPod& pod) {
  const Profile& profile = world_.profiles[pod.profile];
  const Key key{pod.profile, pod.pod_class.id(), pod.shape.id(), read_besides(profile, pod.pod)};
  const auto known = by_key_.find(key);
  if (known != by_key_.end()) {
    kinds_.splice(kinds_.begin(), kinds_, known->second);
  } else {
    kinds_.push_front(
        {.key = key, .pod_class = pod.pod_class, .shape = pod.shape, .versions = {}, .rules = {}});
    by_key_.emplace(key, kinds_.begin());
  }
  Kind& kind = kinds_.front();
  const bool is_new = rules_changed(profile, pod.pod, kind.versions);
  if (is_new) {
    // The old rules exist until the new ones are made, so counts that both need are kept.
    kind.rules = PreparedRules(profile, pod.pod, {},
                               [this](const DomainCount& count) { return tally(count); });
  }
  kind.rules.catch_up();
  if (is_new) forget_some();
  return kind.rules;
}

std::shared_ptr<Tally> Rulings::tally(const DomainCount& count) {
  std::weak_ptr<Tally>& known = tallies_[count.id];
  std::shared_ptr<Tally> kept = known.lock();
  if (kept == nullptr) {
    searched_ += world_.nodes.size();
    kept = std::make_shared<Tally>(world_.nodes, world_.classes,
                                   domains_.of(count.key, count.by_node), count.what);
    known = kept;
  }
  return kept;
}

void Rulings::forget_some() {
  // This many kinds are kept even if they exceed the limit of memory.
  constexpr std::size_t kFewKinds = 4;
  // Counting the bytes costs O(counts). So they are counted only when a sixteenth of the kinds is
  // new, and a sixteenth of the kinds is dropped before they are counted again.
  constexpr std::size_t kPart = 16;
  const auto forget = [this](std::size_t kinds) {
    for (; kinds > 0; --kinds) {
      by_key_.erase(kinds_.back().key);
      kinds_.pop_back();
    }
  };
  if (kinds_.size() > kMostKinds) forget(kinds_.size() - kMostKinds);
  if (++kinds_since_counted_ * kPart < kinds_.size()) return;
  kinds_since_counted_ = 0;
  while (kinds_.size() > kFewKinds && memory() > memory_limit_) {
    forget(std::max<std::size_t>(1, (kinds_.size() - kFewKinds) / kPart));
  }
}

std::size_t Rulings::memory() {
  std::size_t bytes = 0;
  std::erase_if(tallies_, [&](const auto& each) {
    const std::shared_ptr<Tally> kept = each.second.lock();
    if (kept != nullptr) bytes += kept->memory();
    return kept == nullptr;
  });
  return bytes;
}

}  // namespace sched
