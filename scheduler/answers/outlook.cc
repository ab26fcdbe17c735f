#include "scheduler/answers/outlook.h"

#include <utility>
#include <variant>

namespace sched::answers {

const Outlook::Outcome* Outlook::find(const std::string& uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? nullptr : &outcomes_[found->second];
}

std::size_t Outlook::advance(Engine& engine, Time now) {
  const std::size_t before = outcomes_.size();
  while (auto decision = engine.step(now)) {
    if (auto* bind = std::get_if<decision::Bind>(&*decision)) {
      of(bind->pod).node = std::move(bind->node);
    } else if (auto* prepare = std::get_if<decision::Prepare>(&*decision)) {
      Outcome& outcome = of(prepare->pod);
      outcome.node = std::move(prepare->node);
      outcome.after_writes = true;
    } else if (auto* waits = std::get_if<decision::Unschedulable>(&*decision)) {
      Outcome& outcome = of(waits->pod);
      outcome.node.clear();
      outcome.refusal = intern({.message = std::move(waits->message),
                                .details = std::move(waits->details),
                                .plugins = std::move(waits->plugins),
                                .reason = waits->reason});
    } else if (auto* evict = std::get_if<decision::Evict>(&*decision)) {
      Outcome& outcome = of(evict->pod);
      outcome.node.clear();
      outcome.refusal =
          intern({.message = std::move(evict->message), .details = {}, .plugins = {}});
    }
  }
  using Reason = decision::Unschedulable::Reason;
  // The engine reports a group with missing pods only after none of them has come for a while. So
  // what it waits for is added here.
  for (const PodInLine& pod : engine.in_line()) {
    if (pod.group_waits.empty() || by_uid_.contains(pod.pod.uid)) continue;
    of(pod.pod).refusal =
        intern({.message = pod.group_waits,
                .details = {},
                .plugins = {},
                .reason = pod.misses_pods ? Reason::kWaitingForPods : Reason::kUnschedulable});
  }
  return before;
}

Outlook::Outcome& Outlook::of(const PodRef& pod) {
  const auto [found, is_new] = by_uid_.try_emplace(pod.uid, outcomes_.size());
  if (is_new) outcomes_.push_back({.pod = pod, .node = {}, .refusal = 0, .after_writes = false});
  return outcomes_[found->second];
}

std::size_t Outlook::intern(Refusal refusal) {
  const auto [found, is_new] =
      by_text_.try_emplace(refusal.message + '\n' + refusal.details, refusals_.size());
  if (is_new) refusals_.push_back(std::move(refusal));
  return found->second;
}

}  // namespace sched::answers
