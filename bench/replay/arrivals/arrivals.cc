#include "bench/replay/arrivals/arrivals.h"

#include "bench/replay/arrivals/inflate.h"
#include "bench/replay/arrivals/pod_pool.h"
#include "bench/replay/arrivals/recorded.h"
#include "bench/replay/arrivals/stationary.h"

namespace bench::replay {

k8s::Result<Workload> arrange(const Trace& trace, const ArrivalMode& mode, std::uint64_t seed) {
  if (std::holds_alternative<TraceArrival>(mode)) return as_recorded(trace);
  if (std::holds_alternative<BacklogArrival>(mode)) return as_backlog(trace);
  const auto pool = pool_of(trace);
  if (!pool) return tl::unexpected(pool.error());
  if (const auto* inflation = std::get_if<InflateArrival>(&mode)) {
    return inflate(trace, *pool, *inflation, seed);
  }
  return stationary(trace, *pool, std::get<StationaryArrival>(mode), seed);
}

}  // namespace bench::replay
