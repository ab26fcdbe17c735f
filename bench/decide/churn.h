// Pods that come and go on a cluster at a steady load, through the engine and nothing else.
//
// First pods come until every group of nodes is as full as the load asks for. Then, for each pod
// that comes, as many random pods leave as are needed to keep the load. The pod is decided on, and
// the engine gets the events that a live shell would send: the success of the bind, and what the
// watch then shows. A pod that finds no node is withdrawn. Pods that wait without end come between
// the two phases. The first of the pods that come and go are not measured: the pods that fill the
// cluster are another mix than those that are drawn later, and the engine gets time to learn that
// mix.
//
// Not measured: making the objects of the pods, which an API server does in a real cluster.
#pragma once

#include "bench/decide/kinds.h"
#include "bench/decide/meter.h"
#include "scheduler/engine/engine.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bench::decide {

// Why pods wait without end.
enum class WaitingFor : std::uint8_t {
  kNodes,  // no node could ever hold them
  kQuota,  // nodes could, but the GPU quota of their namespace is used up
};

struct Scenario {
  std::size_t nodes = 1'000;
  std::size_t shapes = 10;
  std::size_t warm_up = 0;    // pods that come before the measurement
  std::size_t pods = 50'000;  // pods that come during the measurement
  std::size_t waiting = 0;    // pods that are never placed, each of its own shape
  WaitingFor waiting_for = WaitingFor::kNodes;
  std::size_t quotas = 0;  // quotas that contend (contention.h); 0: none, and pods come and go
  double load = 0.9;
  std::uint64_t seed = 1;
};

struct Outcome {
  double cpu_seconds = 0;                // of everything that the engine did in the measured part
  std::vector<std::uint32_t> decisions;  // nanoseconds each
  std::size_t refused = 0;               // decisions that found no node
  std::size_t bound = 0;                 // pods on nodes at the end
  double gpu_load = 0;                   // at the end
  // Of the heap; 0 if it cannot be counted.
  double bytes_per_node = 0;
  double bytes_per_pod = 0;    // on a node
  double bytes_per_shape = 0;  // that pods were decided on
};

class Churn {
 public:
  // `engine` is fresh, with a profile named kSchedulerName.
  Churn(sched::Engine& engine, const Scenario& scenario);

  [[nodiscard]] Outcome run();

 private:
  struct BoundPod {
    std::uint32_t number = 0;
    std::int32_t amount = 0;
  };
  // The pods of a group of nodes.
  struct Pool {
    std::vector<BoundPod> pods;
    std::int64_t amount = 0;    // what they take, in the unit of Kind::amount
    std::int64_t capacity = 0;  // of the nodes
  };
  // A pod that will come: as it comes, and as the watch will show it with a node.
  struct Arrival {
    std::size_t number = 0;
    const Kind* kind = nullptr;
    k8s::Pod pending;
    k8s::Pod bound;
  };

  void fill();
  void add_waiting();
  void use_up_quota();
  void warm_up();
  void churn();
  void make_room(const Kind& kind);
  void leave(Pool& pool, std::size_t index);
  // Whether the pod found a node. `engine` is the engine, or the meter during the measurement.
  template <typename Judge>
  bool come(Arrival arrival, Judge& engine);
  std::optional<sched::Decision> decide(Meter& meter);
  std::optional<sched::Decision> decide(sched::Engine& engine);
  [[nodiscard]] Arrival make_arrival(const Kind& kind);
  [[nodiscard]] const Kind& draw_kind();
  [[nodiscard]] bool has_room(const Kind& kind) const;
  // Bytes that the engine stores for a shape that it decided on.
  [[nodiscard]] double measure_shapes();
  [[nodiscard]] std::size_t bound_pods() const;
  [[nodiscard]] double gpu_load() const;
  [[nodiscard]] std::uint64_t random(std::uint64_t bound);

  const Scenario scenario_;
  sched::Engine& engine_;
  Meter meter_;
  std::vector<Kind> kinds_;
  std::uint64_t weights_ = 0;  // of all kinds
  std::array<Pool, kGroups.size()> pools_;
  std::size_t numbers_ = 0;  // given to pods
  std::size_t refused_ = 0;
  double engine_seconds_ = 0;
  std::uint64_t draws_ = 0;
  sched::Time now_;
};

}  // namespace bench::decide
