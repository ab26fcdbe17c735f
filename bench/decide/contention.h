// Many quotas of one cohort that contend: all that they may use is used, and in each pods of every
// shape wait for more.
//
// Whenever a pod ends, drawn at random, what it leaves goes to whom it is due: to its own quota's
// next where that is within its guarantee, else to whoever uses least. A pod like the one that went
// comes to wait in its place. The nodes have room for all, so what is measured is whose turn it is.
#pragma once

#include "bench/decide/churn.h"
#include "bench/decide/meter.h"
#include "scheduler/engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::decide {

class Contention {
 public:
  // `engine` is fresh, with a profile named kSchedulerName. The scenario has quotas.
  Contention(sched::Engine& engine, const Scenario& scenario);

  // Two decisions for each pod that ends: on the one that is placed, and on the one that comes.
  [[nodiscard]] Outcome run();

 private:
  struct Pod {
    std::size_t number = 0;
    std::size_t quota = 0;
    std::size_t shape = 0;
  };

  void set_up();
  // `engine` is the engine, or the meter while it is measured.
  template <typename Judge>
  void come(const Pod& pod, Judge& engine);
  // What follows from a pod's end, until a pod like the one that was placed waits again.
  void turn();
  template <typename Judge>
  void bound(const Pod& pod, const std::string& node, Judge& engine);
  [[nodiscard]] k8s::Pod object(const Pod& pod) const;

  const Scenario scenario_;
  sched::Engine& engine_;
  Meter meter_;
  std::vector<Pod> pods_;     // by number
  std::vector<Pod> running_;  // in no order
  std::int64_t capacity_ = 0;
  std::size_t unused_ = 0;  // ends after which nobody was placed
  std::uint64_t draws_ = 0;
  sched::Time now_;
};

}  // namespace bench::decide
