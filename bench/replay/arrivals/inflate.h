// The published protocol: the trace, shuffled, made larger or smaller until it asks for a given
// share of the cluster's GPUs.
//
// Source: Weng et al., "Beware of Fragmentation", USENIX ATC'23, and its artefact,
// hkust-adsl/kubernetes-scheduler-simulator. Their random orders are not available; the same draws
// are made with another generator.
#pragma once

#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/arrivals/pod_pool.h"

#include <cstdint>

namespace bench::replay {

// The pods sorted by name, then shuffled. While they ask for less than `mode.percent` of the GPUs,
// pods drawn from the trace with replacement follow. The first pod that would lead beyond that,
// with its devices counted as one of them, ends it and is dropped. A trace that asks for more loses
// random pods until it does not. One pod a second; no pod leaves. An error if so many pods would
// have to be drawn that they do not fit into memory.
[[nodiscard]] k8s::Result<Workload> inflate(const Trace& trace, const PodPool& pool,
                                            const InflateArrival& mode, std::uint64_t seed);

}  // namespace bench::replay
