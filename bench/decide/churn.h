// Pods that come and go on a cluster at a steady load, through the engine and nothing else.
//
// First pods come until every group of nodes is as full as the load says. Then, for each pod that
// comes, as many leave, drawn at random, as it takes for the load not to rise; the pod is decided
// on, and the engine hears of it what a live shell would tell: that the bind went through, and what
// the watch then shows. A pod that finds no node is withdrawn. Pods that are to wait without end
// come between the two. The first of those that come and go are not measured: what fills a cluster
// is another mix than what is drawn afterwards, and the engine is given the time to learn it.
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
  kQuota,  // nodes could, but their namespace's GPU quota is used up
};

struct Scenario {
  std::size_t nodes = 1'000;
  std::size_t shapes = 10;
  std::size_t warm_up = 0;    // pods that come before it is measured
  std::size_t pods = 50'000;  // that come while it is
  std::size_t waiting = 0;    // that are not placed, of as many shapes
  WaitingFor waiting_for = WaitingFor::kNodes;
  std::size_t quotas = 0;  // that contend (contention.h); 0: none, and pods come and go
  double load = 0.9;
  std::uint64_t seed = 1;
};

struct Outcome {
  double cpu_seconds = 0;                // of the measured part, all that the engine did
  std::vector<std::uint32_t> decisions;  // nanoseconds of each
  std::size_t refused = 0;               // of them: found no node
  std::size_t bound = 0;                 // pods on nodes in the end
  double gpu_load = 0;                   // in the end
  // Of the heap; 0 where it cannot be counted.
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
    std::int64_t amount = 0;    // that they take: as Kind::amount
    std::int64_t capacity = 0;  // of the nodes
  };
  // A pod that is to come: as it comes, and as the watch will show it with a node.
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
  // Whether it found a node. `engine` is the engine, or the meter while it is measured.
  template <typename Judge>
  bool come(Arrival arrival, Judge& engine);
  std::optional<sched::Decision> decide(Meter& meter);
  std::optional<sched::Decision> decide(sched::Engine& engine);
  [[nodiscard]] Arrival make_arrival(const Kind& kind);
  [[nodiscard]] const Kind& draw_kind();
  [[nodiscard]] bool has_room(const Kind& kind) const;
  // Bytes that the engine keeps of a shape it was asked about.
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
