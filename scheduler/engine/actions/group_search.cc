#include "scheduler/engine/actions/group_search.h"

#include "scheduler/engine/finder/prepared_rules.h"
#include "scheduler/engine/line/pod_groups.h"
#include "scheduler/engine/report/fit_error.h"

#include <algorithm>
#include <utility>

namespace sched {
namespace {

// To look at so many domains costs as much as to ask a node.
constexpr std::size_t kDomainsForAnAnswer = 5;

// As many as start together, the largest of them first; then the others.
std::vector<WaitingPod*> in_order(const WaitingGroup& group, const ResourceNames& names) {
  std::vector<WaitingPod*> pods;
  for (const WaitingGroup::Member& member : group.members) pods.push_back(member.pod);
  const auto others = pods.begin() + static_cast<std::ptrdiff_t>(group.min_count);
  std::stable_sort(pods.begin(), others, [&](const WaitingPod* a, const WaitingPod* b) {
    return is_larger(*a, *b, names);
  });
  return pods;
}

}  // namespace

bool GroupSearch::reads_rules(const WaitingPod& pod) const {
  const PodClass& pod_class = *pod.pod_class;
  return !pod.constraints.empty() || pod_class.affinity || pod_class.anti_affinity ||
         is_ruled(world_.profiles[pod.profile], pod.pod);
}

GroupSearch::Found GroupSearch::find(const WaitingGroup& group) {
  Found found;
  WorldTrial trial(world_);
  const std::vector<WaitingPod*> pods = in_order(group, world_.names);
  const bool by_rules = std::any_of(pods.begin(), pods.end(),
                                    [this](const WaitingPod* pod) { return reads_rules(*pod); });
  // If one finds no room, no other that asks for the same does.
  std::set<std::pair<ShapeId, PodClassId>> in_vain;
  for (WaitingPod* pod : pods) {
    if (found.seats.size() == group.min_count) break;
    if ((found.ended = found.cost > kMostCost)) break;
    const std::pair kind{pod->shape.id(), pod->pod_class.id()};
    if (pod->constraints.empty() && in_vain.contains(kind)) continue;
    if (!seat(*pod, group, by_rules, trial, found)) in_vain.insert(kind);
  }
  return found;
}

bool GroupSearch::seat(WaitingPod& pod, const WaitingGroup& group, bool by_rules, WorldTrial& trial,
                       Found& found) {
  const bool is_first = found.message.empty() && !found.by_quota;
  found.cost += 1 + trial.nodes.touched().size();
  if (by_rules) found.cost += finder_.cost_of_ruling(pod) / kDomainsForAnAnswer;
  quota::Admission admission;
  const bool charged = group.queue != kMainQueue && !pod.demand.is_none();
  if (charged) {
    admission =
        world_.ledger.admit(quota_of(group), pod.demand, holds_.rank_of(group), &trial.quota);
    if (admission.refused_some) found.waits_for |= kWaitsForQuota;
    if (admission.refuses()) {
      found.by_quota = found.by_quota || is_first;
      return false;
    }
  }
  const Ruling ruling = by_rules ? finder_.ruling_with(pod, trial.nodes) : finder_.ruling_for(pod);
  Where where{.ruling = &ruling, .trial = &trial.nodes};
  const ScoreCache* answers = nullptr;
  NodeSlot node = kNoSlot;
  const auto look = [&](Scope scope) {
    where.scope = scope;
    answers = &finder_.refresh(pod, ruling, scope);
    node = answers->best(where).node;
    return node != kNoSlot;
  };
  if (!charged) {
    look({});
  } else {
    const auto& [within, borrowing, refused_some] = admission;
    const bool looked = !within.empty() || borrowing.empty();
    const bool is_within = looked && look(search_.scope_of(within));
    if (!is_within && !borrowing.empty()) look(search_.scope_of(admission.classes()));
  }
  if (node == kNoSlot) {
    found.waits_for |= kWaitsForNodes;
    found.by_rules = found.by_rules || !ruling.none();
    if (is_first) word(*answers, where, found);
    return false;
  }
  const quota::ChargeClassId on = world_.nodes.facts(node).charge_class;
  if (charged && !admission.allows(on, false)) found.borrowed.insert(on);
  trial.add(pod, node);
  found.seats.push_back({.pod = &pod, .node = node, .scope = where.scope});
  return true;
}

void GroupSearch::word(const ScoreCache& answers, const Where& where, Found& found) const {
  const PreparedShape& prepared = answers.prepared();
  VerdictCounts verdicts = answers.verdicts(where.scope);
  ReasonCounts further;
  std::set<std::string> plugins;
  found.cost += world_.nodes.slots() / kDomainsForAnAnswer;
  if (!prepared.rejection()) {
    for (NodeSlot slot = 0; slot < world_.nodes.slots(); ++slot) {
      if (!answers.takes(slot, where.scope)) continue;
      const NodeVerdict verdict =
          finder_.verdict(prepared, slot, {.scope = where.scope, .trial = where.trial});
      if (!verdict.is_ok()) {
        verdicts.add(verdict, 1);
        continue;
      }
      for (const std::string_view reason : where.ruling->reasons(slot)) {
        ++further[std::string(reason)];
      }
      plugins.emplace(where.ruling->find(slot)->plugin);
    }
  }
  for (std::string& plugin : refusing_plugins(prepared, verdicts)) {
    plugins.insert(std::move(plugin));
  }
  found.message = fit_error(world_.nodes.size(), prepared, verdicts, std::move(further));
  found.plugins = {plugins.begin(), plugins.end()};
}

}  // namespace sched
