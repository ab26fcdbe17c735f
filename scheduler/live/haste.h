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

namespace sched::live {

enum class Haste : std::uint8_t {
  kNow,
  kSoon,  // within EventQueue::kSoon, or with the next event if that comes before
};

// kSoon for events that only confirm a bind of this process: its success, and a pod of the
// schedulers `ours` that has a node, has not finished and is not being deleted. The engine has
// assumed these pods on their nodes, so the delay gives no room away twice.
[[nodiscard]] Haste haste_of(const Event& event, const std::unordered_set<std::string>& ours);

}  // namespace sched::live
