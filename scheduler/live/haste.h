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

// kSoon for what only confirms a bind of ours: its success, and pods of these schedulers that are
// bound and have not ended. While they are not applied, no room is taken for free that is not.
[[nodiscard]] Haste haste_of(const Event& event, const std::unordered_set<std::string>& ours);

}  // namespace sched::live
