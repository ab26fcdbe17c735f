// A stream of pods that comes and goes at a steady load.
//
// Pods drawn from the trace with replacement arrive in a Poisson process and live for a while. The
// load is what they would hold on average if every one of them found room at once, as a percentage
// of the cluster's GPUs: rate × mean of (GPUs × life). The stream starts from the population that
// such a process has at any time, with the lives that are left of it, so that nothing has to fill
// up first; the warm-up is for the placement to settle.
//
// Lives: exponential and log-normal ones have a mean of one hour and nothing to do with the pod
// (the hour is a unit: figures do not depend on it). With Life::Kind::kTrace a pod lives for as
// long as it did in the trace, from creation to deletion; one of which that is not known lives for
// as long as one drawn from the others. A mean life is then the mean over the trace's pods.
#pragma once

#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/arrivals/pod_pool.h"

#include <cstdint>

namespace bench::replay {

// An error if pods shall live as in the trace and none of it has both its times.
[[nodiscard]] k8s::Result<Workload> stationary(const Trace& trace, const PodPool& pool,
                                               const StationaryArrival& mode, std::uint64_t seed);

}  // namespace bench::replay
