// A stream of pods that come and go at a steady load.
//
// Pods drawn from the trace with replacement arrive in a Poisson process and live for a while. The
// load is what they would hold on average if each of them found room at once, as a percentage of
// the cluster's GPUs: rate × mean of (GPUs × life). The stream starts from the population that such
// a process has at any time, with the rest of its lives, so that nothing must fill up first; the
// warm-up lets the placement settle.
//
// Lives: exponential and log-normal ones have a mean of one hour and do not depend on the pod (the
// hour is a unit: figures do not depend on it). With Life::Kind::kTrace a pod lives as long as in
// the trace, from creation to deletion; if that is not known, as long as a pod drawn from the
// others. A mean life is then the mean over the trace's pods.
#pragma once

#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/arrivals/pod_pool.h"

#include <cstdint>

namespace bench::replay {

// An error if pods should live as in the trace and none of its pods has both times.
[[nodiscard]] k8s::Result<Workload> stationary(const Trace& trace, const PodPool& pool,
                                               const StationaryArrival& mode, std::uint64_t seed);

}  // namespace bench::replay
