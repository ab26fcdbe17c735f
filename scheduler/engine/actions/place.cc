#include "scheduler/engine/actions/place.h"

#include "scheduler/engine/repartition/trials.h"
#include "scheduler/engine/report/fit_error.h"
#include "scheduler/engine/report/ruled_out.h"
#include "scheduler/engine/sentences.h"
#include "scheduler/quota/charged_as.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sched {

std::optional<Decision> Place::attempt(WaitingPod& pod, Time now) {
  pod.refused_binds.forget(now);
  if (pod.queue != kMainQueue) return attempt_by_quota(pod, now);
  const ScoreCache& of_shape = finder_.refresh(pod.profile, pod.shape);
  // If no node can ever take the shape, that is reported, whatever constraints answer.
  if (!of_shape.prepared().rejection()) {
    if (auto objection = objection_to(pod.pod, pod.constraints)) {
      return refuse(pod, *std::move(objection), now);
    }
  }
  if (of_shape.feasible() == 0) return park(pod, {}, kWaitsForNodes, now);
  const Ruling ruling = ruling_for(pod, now);
  const ScoreCache& answers = ruling.none() ? of_shape : finder_.refresh(pod, ruling);
  const Where where{.ruling = &ruling};
  Best best = answers.best(where);
  if (best.node == kNoSlot) return park(pod, where, kWaitsForNodes | kWaitsForOthers, now);
  return assume_best(pod, answers, std::move(best), where, now);
}

std::optional<Decision> Place::attempt_by_quota(WaitingPod& pod, Time now) {
  pod.told_of_turn = false;
  pod.told_over_quota = false;
  if (search_.must_wait_for_turn(pod)) {
    const bool hopeless = world_.ledger.answers().never_fits(quota_of(pod), pod.demand);
    return hopeless ? over_quota(pod, now) : wait_for_turn(pod, now);
  }
  auto objection = objection_to(pod.pod, pod.constraints);
  // Rules across nodes are not counted for a pod that is refused anyway: there may be very many.
  const Ruling ruling = objection ? Ruling{} : ruling_for(pod, now);
  QuotaSearch::Found found = search_.find(pod, ruling);
  if (found.admission.refuses()) return over_quota(pod, now);
  if (objection && !found.answers->prepared().rejection()) {
    return refuse(pod, *std::move(objection), now);
  }
  if (found.borrows) {
    if (const auto at = search_.borrow_in_turn(pod, ruling, found)) {
      queue_.borrows_at(pod, *at);
      return std::nullopt;
    }
  }
  if (found.held_node) return assume_held(pod, now);
  const ScoreCache& answers = *found.answers;
  const Where where{.scope = found.scope, .ruling = &ruling};
  if (found.any()) return assume_best(pod, answers, std::move(found.best), where, now);
  if (holds_.of(pod) != nullptr && !found.admission.within.empty()) {
    const bool lets_go = holds_.hold_node(
        pod,
        {.scope = search_.scope_of(found.admission.within), .ruling = &ruling, .if_empty = true},
        [this](NodeSlot node) { return plans_.make_room_on(node); }, now);
    // What its guarantee does not cover any more, it may still borrow.
    if (lets_go) return attempt_by_quota(pod, now);
    // The hold itself has changed a node.
    static_cast<void>(finder_.refresh(pod.profile, pod.shape, found.scope));
  }
  holds_.looked_at(pod, now);
  return with_quota_words(park(pod, where, found.waits_for(ruling), now), pod);
}

Decision Place::with_quota_words(decision::Unschedulable told, const WaitingPod& pod) const {
  told.details = joined(std::move(told.details), words_.of(pod));
  return told;
}

Ruling Place::ruling_for(WaitingPod& pod, Time now) {
  world_.topology_rejections.forget(now);
  return finder_.ruling_for(pod);
}

std::optional<Decision> Place::assume_best(WaitingPod& pod, const ScoreCache& answers, Best best,
                                           const Where& where, Time now) {
  if (answers.draws()) best.node = answers.draw(++draws_, best, where);
  if (world_.options.names_runner_up) best = answers.with_second(std::move(best), where);
  return assume(pod, answers, best, now);
}

std::optional<Decision> Place::assume_held(WaitingPod& pod, Time now) {
  const NodeSlot node = holds_.of(pod)->on->node();
  holds_.release(pod);
  const ScoreCache& answers = finder_.refresh(pod.profile, pod.shape);
  Best held = answers.best();
  held.node = node;
  held.total = answers.total(node, held);
  return assume(pod, answers, held, now);
}

std::optional<Decision> Place::assume_on(WaitingPod& pod, const Scope& scope, NodeSlot node,
                                         Time now) {
  const Ruling ruling = ruling_for(pod, now);
  const ScoreCache& answers = finder_.refresh(pod, ruling, scope);
  if (!answers.takes(node, scope) || ruling.find(node) != nullptr) return std::nullopt;
  const Where where{.scope = scope, .ruling = &ruling};
  Best best = answers.best(where);
  best.node = node;
  best.total = answers.total(node, best);
  if (world_.options.names_runner_up) best = answers.with_second(std::move(best), where);
  return assume(pod, answers, best, now);
}

std::optional<Decision> Place::assume(WaitingPod& pod, const ScoreCache& answers, const Best& on,
                                      Time now) {
  const NodeSlot node = on.node;
  // Constructed where it is returned: a move costs as much as some of the questions above.
  std::optional<Decision> decided(std::in_place, std::in_place_type<decision::Bind>);
  auto& bind = std::get<decision::Bind>(*decided);
  bind.devices = devices_for(*pod.shape, answers, node);
  bind.total_score = on.total;
  bind.scores = answers.scores(node, on);
  bind.feasible_nodes = on.feasible;
  if (on.second != kNoSlot) bind.runner_up = {world_.nodes.name(on.second), on.second_total};
  assumed_.assume(pod, node, bind, now);
  if (auto wanted = plans_.preparation_for(pod, node)) {
    decided = plans_.begin(std::move(bind), *std::move(wanted), now);
  }
  return decided;
}

std::vector<gpu::DeviceShare> Place::devices_for(const PodShape& shape, const ScoreCache& answers,
                                                 NodeSlot node) const {
  const NodeView view = world_.nodes.view(node);
  if (view.facts.gpu_devices == 0 || shape.gpu.is_none()) return {};
  if (shape.gpu.is_one_piece()) {
    for (const PreparedScore& score : answers.prepared().scores()) {
      if (!score.score) continue;
      if (const auto share = score.score->choose_device(view)) return {*share};
    }
  }
  return world_.options.devices->allocate(shape, view);
}

decision::Unschedulable Place::park(WaitingPod& pod, const Where& where, WaitsFor waits_for,
                                    Time now) {
  decision::Unschedulable refusal = refusal_of(pod);
  word(refusal, pod, where, now);
  pod.last_refusal.clear();
  if (!world_.options.devices && asks_for_instances(*pod.shape)) repartitions_.pod_waits();
  Time again = now + world_.options.max_unschedulable_wait;
  Apart apart;
  // If no node takes the shape anyway, the pod waits as others of its shape do, and a node may be
  // held.
  const ScoreCache& answers = finder_.refresh(pod.profile, pod.shape, where.scope);
  if (where.ruling == nullptr || answers.feasible(where.scope) == 0) {
    if ((waits_for & kWaitsForOthers) != 0) waits_for |= kWaitsForNodes;
    waits_for = static_cast<WaitsFor>(waits_for & ~kWaitsForOthers);
  } else {
    const Ruling* ruling = where.ruling;
    if (const auto end = pod.refused_binds.next_end()) again = std::min(again, *end);
    if (const auto end = world_.topology_rejections.next_end()) again = std::min(again, *end);
    apart = ruling->apart(pod);
  }
  apart.held_for = holds_.apart(pod).held_for;
  pod.never = answers.prepared().rejection().has_value();
  pod.least_room = answers.prepared().least_room();
  queue_.park(pod, apart, waits_for, again);
  return refusal;
}

void Place::word(decision::Unschedulable& refusal, const WaitingPod& pod, const Where& where,
                 Time now) {
  const ScoreCache& answers = finder_.refresh(pod.profile, pod.shape, where.scope);
  const FitReport& report = reports_.of(pod.profile, answers, where.scope, now);
  refusal.details = joined(report.details, refusal.details);
  refusal.message = report.message;
  refusal.plugins = report.plugins;
  if (where.ruling == nullptr || answers.feasible(where.scope) == 0) return;
  RuledOut ruled_out(*where.ruling);
  answers.for_each_kind({.scope = where.scope, .ruling = where.ruling},
                        [&](NodeSlot slot, std::size_t nodes) { ruled_out.add(slot, nodes); });
  std::set<std::string> plugins = ruled_out.plugins();
  plugins.insert(report.plugins.begin(), report.plugins.end());
  refusal.message = fit_error(world_.nodes.size(), answers.prepared(),
                              answers.verdicts(where.scope), ruled_out.reasons());
  refusal.plugins = {plugins.begin(), plugins.end()};
}

std::optional<Decision> Place::refuse(WaitingPod& pod, Objection objection, Time now) {
  pod.never = objection.refusal.awaits.empty();
  // The change that woke the pod does not help it: the last report still holds.
  const bool is_known = pod.last_refusal == objection.refusal.reason;
  const bool is_told = !is_known && pod.messages.take(now);
  queue_.refuse(
      pod, std::move(objection.refusal.awaits),
      is_known || is_told ? now + world_.options.max_unschedulable_wait : pod.messages.next());
  if (!is_told) return std::nullopt;
  decision::Unschedulable refusal = refusal_of(pod);
  refusal.message = fit_error(world_.nodes.size(), objection.refusal.reason);
  refusal.plugins = {std::string(objection.by->name())};
  pod.last_refusal = std::move(objection.refusal.reason);
  return refusal;
}

Decision Place::over_quota(WaitingPod& pod, Time now) {
  decision::Unschedulable refusal = quota_refusal(pod, words_.of(pod));
  const bool hopeless = world_.ledger.answers().never_fits(quota_of(pod), pod.demand);
  pod.told_over_quota = true;
  holds_.looked_at(pod, now);
  queue_.park(pod, holds_.apart(pod), hopeless ? kWaitsForChange : kWaitsForQuota,
              now + world_.options.max_unschedulable_wait);
  return refusal;
}

Decision Place::wait_for_turn(WaitingPod& pod, Time now) {
  decision::Unschedulable refusal = quota_refusal(pod, words_.behind(pod));
  pod.told_of_turn = true;
  queue_.park(pod, {}, kWaitsForTurn, now + world_.options.max_unschedulable_wait);
  return refusal;
}

decision::Unschedulable Place::quota_refusal(WaitingPod& pod, std::string message) {
  pod.last_refusal.clear();
  decision::Unschedulable refusal = refusal_of(pod);
  refusal.message = std::move(message);
  refusal.plugins = {std::string(kQuotaPlugin)};
  refusal.reason = decision::Unschedulable::Reason::kGpuQuotaExceeded;
  return refusal;
}

decision::Unschedulable Place::refusal_of(WaitingPod& pod) const {
  return {
      .pod = ref_of(pod.pod),
      .scheduler_name = pod.pod.spec.scheduler_name,
      .generation = pod.pod.metadata.generation,
      .message = {},
      .details = joined(notes_on(pod.pod, world_.profiles[pod.profile]), pod.refused_binds.text()),
      .plugins = {},
      .attempts = ++pod.attempts};
}

}  // namespace sched
