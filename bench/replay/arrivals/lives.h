// How long the pods of a steady stream live: those that arrive, and those that are present already.
//
// At a given moment of a stream, long lives are more likely to be present than short ones (in
// proportion to their length), and on average they are in their middle. So a pod that is present
// has the rest of a length-biased life: again an exponential one, if lives are exponential; if they
// are log-normal, a uniform part of a log-normal life with the mean of its logarithm moved by its
// variance.
#pragma once

#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/arrivals/pod_pool.h"
#include "bench/replay/arrivals/random.h"

#include <cstddef>
#include <memory>

namespace bench::replay {

struct Stay {
  std::size_t pod = 0;  // index in Trace::pods
  Moment life{1};       // from now on; at least a millisecond
};

class Lives {
 public:
  Lives() = default;
  Lives(const Lives&) = delete;
  Lives& operator=(const Lives&) = delete;
  virtual ~Lives() = default;

  // Mean life of an arriving pod, in milliseconds.
  [[nodiscard]] virtual double mean() const = 0;
  // Mean of thousandths of a GPU × milliseconds of an arriving pod.
  [[nodiscard]] virtual double mean_gpu_time() const = 0;

  // An arriving pod, drawn from the pool with replacement, each equally likely.
  virtual Stay arriving(Random& random) const = 0;
  // A pod that is present at a moment of the steady stream.
  virtual Stay present(Random& random) const = 0;
};

// `trace` and `pool` must outlive it. An error if pods should live as in the trace and none of its
// pods has both times.
[[nodiscard]] k8s::Result<std::unique_ptr<Lives>> lives_of(const Trace& trace, const PodPool& pool,
                                                           const Life& life);

}  // namespace bench::replay
