// Many quotas of one cohort that contend: everything that they may use is used, and in each quota
// pods of every shape wait for more.
//
// Whenever a random pod ends, its GPUs go to the pod that is next: to the next pod of its own quota
// if that is within its guarantee, else to the quota that uses least. A pod like the one that was
// placed then comes to wait. The nodes have room for all pods, so what is measured is the order of
// turns.
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

  // Two decisions for each pod that ends: one on the pod that is placed, one on the pod that comes.
  [[nodiscard]] Outcome run();

 private:
  struct Pod {
    std::size_t number = 0;
    std::size_t quota = 0;
    std::size_t shape = 0;
  };

  void set_up();
  // `engine` is the engine, or the meter during the measurement.
  template <typename Judge>
  void come(const Pod& pod, Judge& engine);
  // Everything from a pod's end until a pod like the one that was placed waits again.
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
  std::size_t unused_ = 0;  // ends after which no pod was placed
  std::uint64_t draws_ = 0;
  sched::Time now_;
};

}  // namespace bench::decide
