#include "scheduler/engine/questions/questions.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/report/shortage_report.h"
#include "scheduler/engine/sentences.h"

#include <algorithm>
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

Explanation Questions::explain(const k8s::Pod& pod) const {
  const std::size_t profile = world_.profile_of(pod.spec.scheduler_name).value_or(0);
  ResourceNames names = world_.names;  // names that only this pod has are not kept
  const PodShape shape_of_pod = shape_of(pod, names);
  const PreparedShape shape(world_.profiles[profile], shape_of_pod,
                            {names, world_.statistics.last()});

  const Constraints constraints = world_.constraints_for(pod, profile);

  Explanation all;
  if (shape.rejection()) {
    all.rejection_plugin = shape.rejection()->plugin;
    all.rejection = shape.rejection()->reason;
  } else if (auto objection = objection_to(pod, constraints)) {
    all.rejection_plugin = std::string(objection->by->name());
    all.rejection = std::move(objection->reason);
  }

  const Trial without_it = without(pod);
  const bool holds_something = !without_it.touched().empty();
  const auto by_quota = holds_something ? std::nullopt : judge_by_quota(pod, shape_of_pod, names);
  quota::ClassSets sets;
  const RefusedBinds& refused = refused_binds_of(pod);
  const Ruling ruling = finder_.ruling_anew(pod, profile, refused, without_it);
  const std::string notes = joined(notes_on(pod, constraints), refused.text());
  Where where{.ruling = &ruling, .trial = &without_it};
  if (by_quota) where.scope = {&sets, sets.intern(by_quota->admission.classes())};
  VerdictCounts counts;
  ReasonCounts excluded_for;
  ShortageReport shortages(shape, names);
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

const RefusedBinds& Questions::refused_binds_of(const k8s::Pod& pod) const {
  static const RefusedBinds kNone;
  const PodRecord* record = world_.pods.find(pod.metadata.uid);
  return record != nullptr && record->waiting() != nullptr ? record->waiting()->refused_binds
                                                           : kNone;
}

Trial Questions::without(const k8s::Pod& pod) const {
  Trial trial(world_.nodes);
  const PodRecord* record = world_.pods.find(pod.metadata.uid);
  if (record != nullptr && record->placement()) {
    trial.take_away(record->placement()->node(), record->placement()->occupant());
  }
  return trial;
}

std::optional<quota::Admission> Questions::admission_anew(const k8s::Pod& pod,
                                                          const PodShape& shape,
                                                          const ResourceNames& names) const {
  const std::size_t profile = world_.profile_of(pod.spec.scheduler_name).value_or(0);
  const quota::Demand demand = world_.demand_of(profile, shape, names);
  const quota::QuotaId id = world_.ledger.quota_of(pod.metadata.namespace_);
  if (demand.is_none() || id == quota::kUnlimitedQuota) return std::nullopt;
  const PodRecord* record = world_.pods.find(pod.metadata.uid);
  const quota::Charge* charged = record == nullptr ? nullptr : record->charged();
  if (charged != nullptr) return world_.ledger.admit_anew(*charged, demand);
  const WaitingPod* waiting = record == nullptr ? nullptr : record->waiting();
  return world_.ledger.admit(id, demand, waiting != nullptr && holds_.of(*waiting) != nullptr);
}

std::optional<Questions::Judgement> Questions::judge_by_quota(const k8s::Pod& pod,
                                                              const PodShape& shape,
                                                              const ResourceNames& names) const {
  const std::size_t profile = world_.profile_of(pod.spec.scheduler_name).value_or(0);
  const quota::Demand demand = world_.demand_of(profile, shape, names);
  const quota::QuotaId id = world_.ledger.quota_of(pod.metadata.namespace_);
  if (demand.is_none() || id == quota::kUnlimitedQuota) return std::nullopt;
  const PodRecord* record = world_.pods.find(pod.metadata.uid);
  const WaitingPod* waiting = record == nullptr ? nullptr : record->waiting();
  // It may be asked about as it is not: with other requests it would wait elsewhere.
  if (waiting != nullptr && waiting->queue != static_cast<QueueId>(id)) waiting = nullptr;
  const bool is_holder = waiting != nullptr && holds_.of(*waiting) != nullptr;
  Judgement judgement{.admission = world_.ledger.admit(id, demand, is_holder),
                      .refuses = false,
                      .words = words_.of({.quota = id,
                                          .demand = demand,
                                          .namespace_ = pod.metadata.namespace_,
                                          .waiting = waiting})};
  judgement.refuses = judgement.admission.refuses();
  if (waiting == nullptr || !search_.must_wait_for_turn(*waiting)) return judgement;
  if (!world_.ledger.never_fits(id, demand)) judgement.words = words_.behind(*waiting);
  judgement.refuses = true;
  return judgement;
}

}  // namespace sched
