// How soon an event must be applied.
//
// Each bind comes back twice: as the API server's answer, and as the pod that the watch shows. The
// engine has assumed both, so nothing waits for them. If each woke the engine's thread, a pod that
// arrives alone would cost three wake-ups in place of one.
#pragma once

#include "scheduler/base/event.h"

#include <cstdint>
#include <string>
#include <unordered_set>
#include <variant>

namespace sched::live {

enum class Haste : std::uint8_t {
  kNow,
  kSoon,  // within EventQueue::kSoon, or with the next event if that comes before
};

// kSoon for events that only confirm a bind of this process: its success, and a pod of the
// schedulers `ours` that has a node, has not finished and is not being deleted. The engine has
// assumed these pods on their nodes, so the delay gives no room away twice.
[[nodiscard]] inline Haste haste_of(const Event& event,
                                    const std::unordered_set<std::string>& ours) {
  if (std::holds_alternative<event::BindSucceeded>(event)) return Haste::kSoon;
  const auto* upserted = std::get_if<event::PodUpserted>(&event);
  if (upserted == nullptr) return Haste::kNow;
  const k8s::Pod& pod = upserted->object;
  const bool holds_its_room =
      !pod.spec.node_name.empty() && !pod.is_finished() && !pod.is_terminating();
  return holds_its_room && ours.contains(pod.spec.scheduler_name) ? Haste::kSoon : Haste::kNow;
}

}  // namespace sched::live
