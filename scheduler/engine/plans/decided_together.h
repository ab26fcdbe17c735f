// Decisions that were made together, and leave the engine one by one: those on the pods of a group.
//
// Events may come in between. What was decided on a pod is dropped if it does not hold any more:
// the pod is gone, has no node after all, or has one.
#pragma once

#include "scheduler/engine/decision.h"
#include "scheduler/engine/world/world.h"

#include <deque>
#include <optional>
#include <utility>

namespace sched {

class DecidedTogether {
 public:
  // `world` outlives it.
  explicit DecidedTogether(World& world) : world_(world) {}

  // Bind, Prepare, NotPrepared or Unschedulable.
  void add(Decision decision) { decisions_.push_back(std::move(decision)); }
  // The next that holds; nullopt: there is none.
  [[nodiscard]] std::optional<Decision> next();

 private:
  World& world_;
  std::deque<Decision> decisions_;
};

}  // namespace sched
