#include "scheduler/engine/questions/questions.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/report/ruled_out.h"
#include "scheduler/engine/report/shortage_report.h"
#include "scheduler/engine/sentences.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sched {
// The words for what nodes answer: for each node, or once for those that answer alike.
class Questions::InWords {
 public:
  InWords(const PreparedShape& shape, const Ruling& ruling, bool each_node, Explanation& to)
      : shape_(shape), ruling_(ruling), each_node_(each_node), to_(to) {}

  void add(const std::string& name, NodeSlot slot, const NodeView& view,
           const NodeVerdict& verdict) {
    ++to_.all_nodes;
    if (verdict.is_ok()) ++to_.fitting_nodes;
    const bool is_excluded = verdict == NodeVerdict::excluded();
    if (each_node_) {
      to_.nodes.push_back(is_excluded ? of_excluded(name, slot) : of_node(name, view, verdict));
      return;
    }
    if (verdict.is_ok()) return;
    std::vector<std::string_view> by_ruling;
    if (is_excluded) by_ruling = ruling_.reasons(slot);
    const auto [kind, is_new] = kinds_.try_emplace(
        {verdict.filter, verdict.reasons, std::move(by_ruling)}, to_.refused.size());
    if (is_new) {
      to_.refused.push_back(
          {.nodes = 0,
           .first = is_excluded ? of_excluded(name, slot) : of_node(name, view, verdict)});
    }
    ++to_.refused[kind->second].nodes;
  }
  // Of a pod that is refused as a whole.
  void add_rejected(const std::string& name) {
    ++to_.all_nodes;
    NodeExplanation words{.node = name,
                          .code = Code::kUnresolvable,
                          .plugin = *to_.rejection_plugin,
                          .reasons = {*to_.rejection},
                          .numbers = {}};
    if (each_node_) {
      to_.nodes.push_back(std::move(words));
    } else if (to_.refused.empty()) {
      to_.refused.push_back({.nodes = 1, .first = std::move(words)});
    } else {
      ++to_.refused.front().nodes;
    }
  }

 private:
  [[nodiscard]] NodeExplanation of_node(const std::string& name, const NodeView& node,
                                        const NodeVerdict& verdict) const {
    NodeExplanation words{.node = name,
                          .code = verdict.code,
                          .plugin = std::string(shape_.plugin_of(verdict)),
                          .reasons = shape_.reasons_of(verdict),
                          .numbers = {}};
    std::sort(words.reasons.begin(), words.reasons.end());
    if (verdict.filter >= shape_.filters().size() || verdict.is_ok()) return words;
    const NodeFilter& filter = *shape_.filters()[verdict.filter].filter;
    for_each_reason(verdict.reasons, [&](unsigned index) {
      if (std::string numbers = filter.numbers(node, index); !numbers.empty()) {
        words.numbers.push_back(std::move(numbers));
      }
    });
    return words;
  }
  [[nodiscard]] NodeExplanation of_excluded(const std::string& name, NodeSlot slot) const {
    const Ruling::Why& why = *ruling_.find(slot);
    const auto reasons = ruling_.reasons(slot);
    NodeExplanation words{.node = name,
                          .code = why.code,
                          .plugin = std::string(why.plugin),
                          .reasons = {reasons.begin(), reasons.end()},
                          .numbers = {}};
    std::sort(words.reasons.begin(), words.reasons.end());
    return words;
  }

  // Filter and reasons; for a node that rules across nodes exclude, these rules' reasons.
  using Kind = std::tuple<decltype(NodeVerdict::filter), decltype(NodeVerdict::reasons),
                          std::vector<std::string_view>>;

  const PreparedShape& shape_;
  const Ruling& ruling_;
  const bool each_node_;
  Explanation& to_;
  std::map<Kind, std::size_t> kinds_;  // indices of to_.refused
};

Questions::Asked::Asked(const World& world, const k8s::Pod& pod_asked_about,
                        const Supposed& supposed)
    : pod(pod_asked_about),
      profile(world.profile_of(pod.spec.scheduler_name).value_or(0)),
      trial(world),
      names(world.names),
      pod_shape(shape_of(pod, names)),
      shape(world.profiles[profile], pod_shape, {names, world.statistics.last()}),
      constraints(world.constraints_for(pod, profile)) {
  const PodRecord* known = world.pods.find(pod.metadata.uid);
  if (known != nullptr) {
    trial.take_away(*known);
    waiting = known->waiting();
  }
  const std::set<std::string> ended(supposed.ended.begin(), supposed.ended.end());
  for (const std::string& uid : ended) {
    const PodRecord* pod_that_ends = world.pods.find(uid);
    if (pod_that_ends != nullptr && pod_that_ends != known) trial.take_away(*pod_that_ends);
  }
  for (const auto& [uid, name] : supposed.placed) {
    const PodRecord* placed = world.pods.find(uid);
    const NodeSlot node = world.nodes.find(name);
    if (placed == nullptr || placed->state() != PodRecord::State::kPending) continue;
    if (node != kNoSlot && world.nodes.present(node)) trial.add(*placed->waiting(), node);
  }
}

Explanation Questions::explain(const k8s::Pod& pod, const Supposed& supposed) const {
  return explained(Asked(world_, pod, supposed), true);
}

Explanation Questions::explain_alike(const k8s::Pod& pod) const {
  return explained(Asked(world_, pod), false);
}

Explanation Questions::explained(const Asked& asked, bool each_node) const {
  const k8s::Pod& pod = asked.pod;
  const PreparedShape& shape = asked.shape;
  Explanation all;
  if (shape.rejection()) {
    all.rejection_plugin = shape.rejection()->plugin;
    all.rejection = shape.rejection()->reason;
  } else if (auto objection = objection_to(pod, asked.constraints)) {
    all.rejection_plugin = std::string(objection->by->name());
    all.rejection = std::move(objection->refusal.reason);
  }

  const auto by_quota = judge_by_quota(asked);
  quota::ClassSets sets;
  const RefusedBinds& refused = refused_binds_of(asked);
  const Ruling ruling = all.rejection
                            ? Ruling{}
                            : finder_.ruling_anew(pod, asked.profile, refused, asked.trial.nodes);
  const std::string notes = joined(notes_on(pod, world_.profiles[asked.profile]), refused.text());
  Where where{.ruling = &ruling, .trial = &asked.trial.nodes};
  if (by_quota) where.scope = {&sets, sets.intern(by_quota->admission.classes())};
  VerdictCounts counts;
  RuledOut ruled_out(ruling);
  ShortageReport shortages(shape, asked.names);
  InWords words(shape, ruling, each_node, all);
  for (const auto& [name, slot] : world_.nodes.by_name()) {
    if (!world_.nodes.present(slot)) continue;
    if (all.rejection) {
      words.add_rejected(name);
      continue;
    }
    const NodeView view = finder_.view(slot, where);
    const NodeVerdict verdict = finder_.verdict(shape, slot, where);
    words.add(name, slot, view, verdict);
    if (verdict.is_ok()) continue;
    if (verdict == NodeVerdict::excluded()) {
      ruled_out.add(slot);
      shortages.add_passing();
      continue;
    }
    counts.add(verdict);
    shortages.add(view, verdict, world_.nodes.rank(slot));
  }
  if (by_quota && by_quota->refuses) {
    all.message = by_quota->words;
    all.by_quota = true;
    all.never_by_quota = by_quota->never;
    all.details = notes;
    return all;
  }
  if (all.fitting_nodes > 0) return all;
  all.message = all.rejection ? fit_error(world_.nodes.size(), *all.rejection)
                              : fit_error(world_.nodes.size(), shape, counts, ruled_out.reasons());
  all.details = joined(shortages.text(), notes);
  // A pod that a constraint refuses waits for no quota.
  const bool is_refused = all.rejection && !shape.rejection();
  if (by_quota && !is_refused) all.details = joined(std::move(all.details), by_quota->words);
  return all;
}

const RefusedBinds& Questions::refused_binds_of(const Asked& asked) {
  static const RefusedBinds kNone;
  return asked.waiting != nullptr ? asked.waiting->refused_binds : kNone;
}

std::optional<Questions::Judgement> Questions::judge_by_quota(const Asked& asked) const {
  const quota::Demand demand = world_.demand_of(asked.profile, asked.pod_shape, asked.names);
  const quota::QuotaId id = world_.ledger.quota_of(asked.pod.metadata.namespace_);
  if (demand.is_none() || id == quota::kUnlimitedQuota) return std::nullopt;
  // The question may be about a changed pod: with other requests it would wait elsewhere.
  const WaitingPod* waiting = asked.waiting;
  if (waiting != nullptr &&
      (waiting->place == QueuePlace::kNone || waiting->queue != static_cast<QueueId>(id))) {
    waiting = nullptr;
  }
  const quota::HoldRank rank = waiting != nullptr ? holds_.rank_of(*waiting) : quota::kNoHold;
  const quota::LedgerTrial& accounts = asked.trial.quota;
  Judgement judgement{.admission = world_.ledger.answers().admit(id, demand, rank, &accounts),
                      .refuses = false,
                      .never = false,
                      .words = words_.of({.quota = id,
                                          .demand = demand,
                                          .namespace_ = asked.pod.metadata.namespace_,
                                          .waiting = waiting,
                                          .in = &accounts})};
  judgement.refuses = judgement.admission.refuses();
  judgement.never = world_.ledger.answers().never_fits(id, demand);
  if (waiting == nullptr || !search_.must_wait_for_turn(*waiting)) return judgement;
  if (!judgement.never) judgement.words = words_.behind(*waiting);
  judgement.refuses = true;
  return judgement;
}

}  // namespace sched
