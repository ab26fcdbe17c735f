#include "scheduler/live/haste.h"

#include <variant>

namespace sched::live {

Haste haste_of(const Event& event, const std::unordered_set<std::string>& ours) {
  if (std::holds_alternative<event::BindSucceeded>(event)) return Haste::kSoon;
  const auto* upserted = std::get_if<event::PodUpserted>(&event);
  if (upserted == nullptr) return Haste::kNow;
  const k8s::Pod& pod = upserted->object;
  const bool holds_its_room =
      !pod.spec.node_name.empty() && !pod.is_finished() && !pod.is_terminating();
  return holds_its_room && ours.contains(pod.spec.scheduler_name) ? Haste::kSoon : Haste::kNow;
}

}  // namespace sched::live
