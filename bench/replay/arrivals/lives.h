// How long the pods of a steady stream live: those that arrive, and those that are there already.
//
// Who looks at a stream at some moment meets long lives more often than short ones (a life is met
// in proportion to its length), and on average in their middle. So a pod that is present has the
// rest of a length-biased life: again an exponential one, if lives are exponential; a uniform part
// of a log-normal one whose logarithm has its mean moved by its variance, if they are log-normal.
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

  // Mean life of a pod that arrives, in milliseconds.
  [[nodiscard]] virtual double mean() const = 0;
  // Mean of thousandths of a GPU × milliseconds that a pod that arrives takes.
  [[nodiscard]] virtual double mean_gpu_time() const = 0;

  // A pod that arrives, drawn from the pool with replacement, each equally likely.
  virtual Stay arriving(Random& random) const = 0;
  // A pod that is present at some moment of the steady stream.
  virtual Stay present(Random& random) const = 0;
};

// `trace` and `pool` must outlive it. An error if pods shall live as in the trace and none of it
// has both its times.
[[nodiscard]] k8s::Result<std::unique_ptr<Lives>> lives_of(const Trace& trace, const PodPool& pool,
                                                           const Life& life);

}  // namespace bench::replay
