// Runs one policy over one workload in virtual time, on the engine that runs clusters.
//
// The engine gets the events that a live shell would send: nodes and pods come, binds succeed at
// once, pods go. Its decisions are collected in a Result. The same arguments give the same result,
// byte for byte, except for the seconds that it took.
#pragma once

#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/policies/policies.h"
#include "bench/replay/result.h"
#include "bench/replay/trace/trace.h"
#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/error.h"
#include "scheduler/framework/profile.h"
#include "scheduler/framework/registry.h"

#include <atomic>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <vector>

namespace bench::replay {

// What happens to a pod that does not fit.
enum class WhenFull : std::uint8_t {
  kRefuse,  // it is refused for good (the published protocols)
  kQueue,   // it waits
};

// How the engine gets the typical pods that some scores use.
enum class TypicalPods : std::uint8_t {
  kLearned,  // from the pods as they come, as on a live cluster
  kTrace,    // the whole trace is known from the start (the published protocols)
};

struct RunOptions {
  std::uint64_t seed = 42;
  WhenFull when_full = WhenFull::kRefuse;
  TypicalPods typical_pods = TypicalPods::kLearned;
  std::optional<Moment> until = {};                    // the end
  std::vector<double> snapshots_at = {};               // % arrived, or % of the time
  const std::vector<k8s::GpuQuota>* quotas = nullptr;  // outlive the run; null: none
  std::ostream* decisions = nullptr;                   // decisions.jsonl; outlives the run
  const std::atomic<bool>* stop = nullptr;             // true: end now with the present result
};

// Its name in a configuration: "first-node".
[[nodiscard]] std::string_view text_of(sched::TieBreak::Order order);

// `policy` on `workload`, which was arranged from `trace`. The caller sets Result::arrival.
[[nodiscard]] k8s::Result<Result> run(const Trace& trace, const Workload& workload,
                                      const Policy& policy, const sched::Registry& registry,
                                      const RunOptions& options);

}  // namespace bench::replay
