// The engine with a clock: how long each decision took.
//
// Its functions are never inlined, so that an instruction counter can be switched on for them alone
// (instructions.py).
#pragma once

#include "scheduler/engine/engine.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bench::decide {

class Meter {
 public:
  // The engine outlives it.
  explicit Meter(sched::Engine& engine) : engine_(engine) {}

  [[gnu::noinline]] void apply(sched::Event event, sched::Time now);

  // Steps until the engine has no more decisions; returns the first one, which is on the pod that
  // has just come.
  [[gnu::noinline]] std::optional<sched::Decision> decide(sched::Time now);

  // Nanoseconds of each decide().
  [[nodiscard]] const std::vector<std::uint32_t>& decisions() const { return decisions_; }
  void reserve(std::size_t decisions) { decisions_.reserve(decisions); }

 private:
  sched::Engine& engine_;
  std::vector<std::uint32_t> decisions_;
};

}  // namespace bench::decide
