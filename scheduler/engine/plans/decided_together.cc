#include "scheduler/engine/plans/decided_together.h"

#include <string>
#include <utility>
#include <variant>

namespace sched {
namespace {

bool holds(const Decision& decision, World& world) {
  if (const auto* bind = std::get_if<decision::Bind>(&decision)) {
    return world.assumed(bind->pod.uid, bind->node) != nullptr;
  }
  if (const auto* prepare = std::get_if<decision::Prepare>(&decision)) {
    return world.assumed(prepare->pod.uid, prepare->node) != nullptr;
  }
  const auto* undone = std::get_if<decision::NotPrepared>(&decision);
  const std::string& uid =
      undone != nullptr ? undone->pod.uid : std::get<decision::Unschedulable>(decision).pod.uid;
  const PodRecord* pod = world.pods.find(uid);
  return pod != nullptr && pod->state() == PodRecord::State::kPending;
}

}  // namespace

std::optional<Decision> DecidedTogether::next() {
  while (!decisions_.empty()) {
    std::optional<Decision> decision(std::move(decisions_.front()));
    decisions_.pop_front();
    if (holds(*decision, world_)) return decision;
  }
  return std::nullopt;
}

}  // namespace sched
