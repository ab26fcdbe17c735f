#include "scheduler/engine/questions/questions.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/report/shortage_report.h"
#include "scheduler/engine/sentences.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace sched {
namespace {

NodeExplanation in_words(const NodeView& node, const NodeVerdict& verdict,
                         const PreparedShape& shape) {
  NodeExplanation words{.node = node.facts.name,
                        .code = verdict.code,
                        .plugin = std::string(shape.plugin_of(verdict)),
                        .reasons = shape.reasons_of(verdict),
                        .numbers = {}};
  std::sort(words.reasons.begin(), words.reasons.end());
  if (verdict.filter >= shape.filters().size() || verdict.is_ok()) return words;
  const NodeFilter& filter = *shape.filters()[verdict.filter].filter;
  for_each_reason(verdict.reasons, [&](unsigned index) {
    if (std::string numbers = filter.numbers(node, index); !numbers.empty()) {
      words.numbers.push_back(std::move(numbers));
    }
  });
  return words;
}

}  // namespace

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
  const Asked asked(world_, pod, supposed);
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
  const Ruling ruling = finder_.ruling_anew(pod, asked.profile, refused, asked.trial.nodes);
  const std::string notes = joined(notes_on(pod, asked.constraints), refused.text());
  Where where{.ruling = &ruling, .trial = &asked.trial.nodes};
  if (by_quota) where.scope = {&sets, sets.intern(by_quota->admission.classes())};
  VerdictCounts counts;
  ReasonCounts excluded_for;
  ShortageReport shortages(shape, asked.names);
  bool fits = false;
  for (const auto& [name, slot] : world_.nodes.by_name()) {
    if (!world_.nodes.present(slot)) continue;
    if (all.rejection) {
      all.nodes.push_back({.node = name,
                           .code = Code::kUnresolvable,
                           .plugin = *all.rejection_plugin,
                           .reasons = {*all.rejection},
                           .numbers = {}});
      continue;
    }
    const NodeView view = finder_.view(slot, where);
    const NodeVerdict verdict = finder_.verdict(shape, slot, where);
    all.nodes.push_back(in_words(view, verdict, shape));
    fits = fits || verdict.is_ok();
    if (verdict.is_ok()) continue;
    if (verdict == NodeVerdict::excluded()) {
      const Ruling::Why& why = *ruling.find(slot);
      all.nodes.back().code = why.code;
      all.nodes.back().plugin = why.plugin;
      for (const std::string_view reason : ruling.reasons(slot)) {
        all.nodes.back().reasons.emplace_back(reason);
        ++excluded_for[all.nodes.back().reasons.back()];
      }
      std::sort(all.nodes.back().reasons.begin(), all.nodes.back().reasons.end());
      continue;
    }
    counts.add(verdict);
    shortages.add(view, verdict, world_.nodes.rank(slot));
  }
  if (by_quota && by_quota->refuses) {
    all.message = by_quota->words;
    all.by_quota = true;
    all.details = notes;
    return all;
  }
  if (fits) return all;
  all.message = all.rejection
                    ? fit_error(world_.nodes.size(), *all.rejection)
                    : fit_error(world_.nodes.size(), shape, counts, std::move(excluded_for));
  all.details = joined(shortages.text(), notes);
  if (by_quota) all.details = joined(std::move(all.details), by_quota->words);
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
  Judgement judgement{.admission = world_.ledger.admit(id, demand, rank, &accounts),
                      .refuses = false,
                      .words = words_.of({.quota = id,
                                          .demand = demand,
                                          .namespace_ = asked.pod.metadata.namespace_,
                                          .waiting = waiting,
                                          .in = &accounts})};
  judgement.refuses = judgement.admission.refuses();
  if (waiting == nullptr || !search_.must_wait_for_turn(*waiting)) return judgement;
  if (!world_.ledger.never_fits(id, demand)) judgement.words = words_.behind(*waiting);
  judgement.refuses = true;
  return judgement;
}

}  // namespace sched
