#include "scheduler/engine/actions/group_search.h"

#include "scheduler/engine/finder/prepared_rules.h"
#include "scheduler/engine/line/pod_groups.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/report/ruled_out.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace sched {
namespace {

// To look at so many domains costs as much as to ask a node.
constexpr std::size_t kDomainsForAnAnswer = 5;
// To make the counts of one term of a seated pod; to count a node of a seat for one term of its
// own. In answers of nodes.
constexpr std::size_t kCostOfTerm = 10;
constexpr std::size_t kCostOfCount = 2;

std::size_t terms_across_nodes(const k8s::Pod::Spec& pod) {
  std::size_t terms = 0;
  for (const auto* affinity : {&pod.pod_affinity, &pod.pod_anti_affinity}) {
    if (*affinity) terms += (*affinity)->required.size() + (*affinity)->preferred.size();
  }
  return terms;
}

// As many as start together, the largest of them first; then the others.
std::vector<WaitingPod*> in_order(const WaitingGroup& group,
                                  const std::set<const WaitingPod*>& without,
                                  const ResourceNames& names) {
  std::vector<WaitingPod*> pods;
  for (const WaitingGroup::Member& member : group.members) {
    if (!without.contains(member.pod)) pods.push_back(member.pod);
  }
  const auto others =
      pods.begin() + static_cast<std::ptrdiff_t>(std::min(group.min_count, pods.size()));
  std::stable_sort(pods.begin(), others, [&](const WaitingPod* a, const WaitingPod* b) {
    return is_larger(*a, *b, names);
  });
  return pods;
}

bool leaves_only(NodeSlot node, const Ruling& ruling, const Nodes& nodes) {
  if (ruling.find(node) != nullptr) return false;
  for (NodeSlot slot = 0; slot < nodes.slots(); ++slot) {
    if (slot != node && nodes.present(slot) && ruling.find(slot) == nullptr) return false;
  }
  return true;
}

}  // namespace

bool GroupSearch::reads_rules(const WaitingPod& pod) const {
  return !pod.constraints.empty() || is_ruled(world_.profiles[pod.profile], pod.pod);
}

GroupSearch::Found GroupSearch::find(const WaitingGroup& group,
                                     const std::set<const WaitingPod*>& without) {
  Asked asked{.group = group, .pods = in_order(group, without, world_.names)};
  asked.by_rules = std::any_of(asked.pods.begin(), asked.pods.end(),
                               [this](const WaitingPod* pod) { return reads_rules(*pod); });
  Found best;
  search(asked, best);
  if (!asked.by_rules || best.seats.empty()) return best;
  for (Seat first = best.seats.front(); best.seats.size() < group.min_count && !best.ended;) {
    const std::vector<NodeSlot> tried = tried_with(first, best);
    std::vector<NodeSlot> all;
    std::set_union(asked.not_first.begin(), asked.not_first.end(), tried.begin(), tried.end(),
                   std::back_inserter(all));
    if (all.size() == asked.not_first.size()) break;
    asked.not_first = std::move(all);
    Found found;
    found.cost = best.cost;
    found.searched = best.searched;
    search(asked, found);
    best.cost = found.cost;
    best.searched = found.searched;
    if (found.seats.empty()) break;  // no domain is left
    first = found.seats.front();
    best.ended = found.ended;
    if (found.seats.size() > best.seats.size()) best = std::move(found);
  }
  return best;
}

std::vector<NodeSlot> GroupSearch::tried_with(const Seat& first, Found& found) {
  WorldTrial trial(world_);
  trial.add(*first.pod, first.node);
  auto domain = finder_.together_with(*first.pod, first.node, trial.nodes);
  const WaitingPod* other = found.without_seat;
  if (!domain.empty() || other == nullptr || found.by_quota) return domain;
  // The first may be free, and decide for the others all the same.
  domain = finder_.together_with(*other, first.node, trial.nodes);
  if (!domain.empty()) return domain;
  // The other may have no node but that of the first: of a volume, for example.
  const std::uint64_t before = finder_.searched();
  const Ruling left = finder_.ruling_with(*other, trial.nodes);
  if (leaves_only(first.node, left, world_.nodes)) domain = {first.node};
  found.searched += finder_.searched() - before;
  found.cost += finder_.searched() - before + world_.nodes.slots() / kDomainsForAnAnswer;
  return domain;
}

void GroupSearch::search(const Asked& asked, Found& found) {
  WorldTrial trial(world_);
  std::set<PodClassId> seated;
  std::size_t terms = 0;  // of the classes that are seated
  const auto finds_seat = [&](WaitingPod& pod) {
    const std::size_t own_terms = terms_across_nodes(pod.pod.spec);
    if (asked.by_rules) {
      found.cost += kCostOfTerm * terms + kCostOfCount * own_terms * trial.nodes.touched().size();
    }
    const std::uint64_t before = finder_.searched();
    const bool has_seat = seat(pod, asked, trial, found);
    found.searched += finder_.searched() - before;
    found.cost += finder_.searched() - before;
    if (has_seat && seated.insert(pod.pod_class.id()).second) terms += own_terms;
    return has_seat;
  };
  std::vector<WaitingPod*> pods = asked.pods;
  while (true) {
    // If one finds no room, no other that asks for the same does.
    std::set<std::pair<ShapeId, PodClassId>> without_room;
    std::vector<WaitingPod*> left;
    std::size_t before_left = 0;  // seats that were found before the first of those
    for (WaitingPod* pod : pods) {
      if (found.seats.size() == asked.group.min_count) return;
      if ((found.ended = found.cost > kMostCost)) return;
      const std::pair kind{pod->shape.id(), pod->pod_class.id()};
      const bool alike = pod->constraints.empty() && pod->refused_binds.left_out().empty();
      if ((alike && without_room.contains(kind)) || !finds_seat(*pod)) {
        without_room.insert(kind);
        if (left.empty()) before_left = found.seats.size();
        left.push_back(pod);
      }
    }
    // A rule may demand some of the pods that have seats by now.
    if (!found.by_rules || found.seats.size() == before_left) return;
    Found again;
    again.seats = std::move(found.seats);
    again.borrowed = std::move(found.borrowed);
    again.cost = found.cost;
    again.searched = found.searched;
    found = std::move(again);
    pods = std::move(left);
  }
}

bool GroupSearch::seat(WaitingPod& pod, const Asked& asked, WorldTrial& trial, Found& found) {
  const WaitingGroup& group = asked.group;
  const bool by_rules = asked.by_rules;
  const bool is_first = found.without_seat == nullptr;
  found.cost += 1 + trial.nodes.touched().size();
  if (by_rules) found.cost += finder_.cost_of_ruling(pod) / kDomainsForAnAnswer;
  quota::Admission admission;
  const bool charged = group.queue != kMainQueue && !pod.demand.is_none();
  if (charged) {
    admission = world_.ledger.answers().admit(quota_of(group), pod.demand, holds_.rank_of(group),
                                              &trial.quota);
    if (admission.refused_some) found.waits_for |= kWaitsForQuota;
    if (admission.refuses()) {
      found.by_quota = found.by_quota || is_first;
      if (is_first) found.without_seat = &pod;
      return false;
    }
  }
  Ruling ruling = by_rules ? finder_.ruling_with(pod, trial.nodes) : finder_.ruling_for(pod);
  const bool rules_out_some = !ruling.allows_all();
  if (found.seats.empty() && !asked.not_first.empty()) {
    ruling.add({kPodGroupPlugin, "another domain", Code::kUnschedulable, false}, asked.not_first,
               std::nullopt);
  }
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
    found.by_rules = found.by_rules || rules_out_some;
    if (is_first) {
      found.without_seat = &pod;
      word(*answers, where, found);
    }
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
  RuledOut ruled_out(*where.ruling);
  found.cost += world_.nodes.slots() / kDomainsForAnAnswer;
  found.never = prepared.rejection().has_value();
  if (!prepared.rejection()) {
    answers.for_each_kind(where,
                          [&](NodeSlot slot, std::size_t nodes) { ruled_out.add(slot, nodes); });
    for (const NodeSlot slot : where.trial->touched()) {
      if (!answers.takes(slot, where.scope)) continue;
      const NodeVerdict verdict =
          finder_.verdict(prepared, slot, {.scope = where.scope, .trial = where.trial});
      if (!verdict.is_ok()) {
        verdicts.add(verdict, 1);
      } else {
        ruled_out.add(slot);
      }
    }
  }
  std::set<std::string> plugins = ruled_out.plugins();
  for (std::string& plugin : refusing_plugins(prepared, verdicts)) {
    plugins.insert(std::move(plugin));
  }
  found.message = fit_error(world_.nodes.size(), prepared, verdicts, ruled_out.reasons());
  found.plugins = {plugins.begin(), plugins.end()};
}

}  // namespace sched
