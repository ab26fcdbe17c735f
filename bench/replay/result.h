// The results of one run (one policy, one seed). Written by run.cc, read by every output: table,
// summary.json, steps.csv, report.html.
//
// GPU amounts are thousandths of a GPU unless they are percentages; percentages are of all GPUs of
// the cluster. A pod without GPU counts in the run and in the counts, not in GPU figures.
#pragma once

#include "bench/replay/trace/trace.h"
#include "scheduler/cluster/fragmentation.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

// Why free GPU cannot be used by the typical pods.
using Cause = sched::FreeGpuCause;
inline constexpr std::size_t kCauses = sched::kFreeGpuCauses;
inline constexpr std::array<std::string_view, kCauses> kCauseNames{
    "q1_lack_both", "q2_lack_gpu", "q3_satisfied", "q4_lack_cpu",
    "xl_satisfied", "xr_lack_cpu", "no_access"};

// One step of a run. If no pod leaves, a step is a whole percent of arrived GPU; else an equal
// slice of the time, over which shares are averaged.
struct Step {
  double x = 0;                                 // % of GPUs that arrived; or hours since the start
  std::size_t arrivals = 0;                     // pods so far
  double allocated = 0;                         // % of GPUs
  double refused = 0;                           // GPU so far refused, % of GPU so far asked for
  std::size_t waiting = 0;                      // pods
  std::array<double, kCauses> free_by_cause{};  // % of GPUs; sums up to the free ones

  // % of GPUs that is free and that the typical pods cannot use: all but q3.
  [[nodiscard]] double fragmented() const {
    double sum = 0;
    for (const double share : free_by_cause) sum += share;
    return sum - free_by_cause[static_cast<std::size_t>(Cause::kSatisfied)];
  }
};

// The cluster at a chosen moment. Nodes in the trace's order.
struct Snapshot {
  std::string title;  // "at 90 % arrival"
  double x = 0;
  struct NodeState {
    std::vector<std::int32_t> devices;  // thousandths taken of each GPU
    double cpu = 0;                     // share taken, 0 … 1
  };
  std::vector<NodeState> nodes;
};

// Sums over the pods of one namespace, or of one GPU model's nodes.
struct GroupUse {
  std::size_t pods = 0;  // that came (namespace) / were placed there (model)
  std::size_t placed = 0;
  double asked = 0;      // GPUs (a share counts as its part) over all that came
  double allocated = 0;  // GPUs: at the end, or on average over the window
  double capacity = 0;   // existing GPUs; 0 for namespaces
  double waited = 0;     // seconds, on average, as Result::waits; namespaces and over time only
};

// How long pods that ask for about as much GPU waited; over time only.
struct WaitOfSize {
  std::string size;      // "2 to 7 GPUs, types named"
  std::size_t pods = 0;  // placed, or still waiting
  double gpu_hours = 0;  // GPUs that they ask for × hours that they waited
  double p50 = 0;        // seconds
  double p99 = 0;
};

// Pods of one kind that found no node.
struct RefusedKind {
  std::string kind;  // "8 GPU, 64 CPU, 256Gi"
  std::size_t pods = 0;
  double gpus = 0;
  std::string example;  // namespace/name
  std::string message;  // the message of the example when it was refused (last)
  std::string details;
};

// One line of a GPU quota at one moment of a run. GPUs.
struct QuotaStep {
  double x = 0;  // hours since the start; in runs not over time: pods that came
  std::string quota;
  std::string gpu_type;
  double guaranteed = 0;
  double used = 0;
  double borrowed = 0;  // of `used`
  double lent = 0;
  double pending = 0;  // what its waiting pods ask for
};

struct Result {
  std::string trace;
  std::string policy;
  std::string tie_break;
  std::string arrival;
  std::uint64_t seed = 0;
  bool over_time = false;    // what Step::x is
  bool interrupted = false;  // the rest is of the part that was run

  // Named figures for --fail-if and the table: "unallocated" (% at the end; on average over the
  // window of a stationary stream), "allocated", "fragmented", "refused" (% of GPU),
  // "refused_pods", "placed_pods", "wait_p50", "wait_p99" (seconds; of pods that had to wait and of
  // those placed at once), "gpus", "arrived", …; see bench/replay/README.md.
  std::map<std::string, double> figures;

  std::vector<Step> steps;
  std::vector<Snapshot> snapshots;
  std::map<std::string, GroupUse> by_namespace;
  std::map<std::string, GroupUse> by_product;  // "" for nodes without a model
  // Seconds, sorted: of placed pods, and of pods that still wait as long as they have waited until
  // the end. Over time only.
  std::vector<double> waits;
  std::vector<WaitOfSize> waits_by_size;  // from small to large; over time only
  std::vector<RefusedKind> refused;       // most GPUs first
  std::vector<QuotaStep> quota_steps;     // by x; empty without quotas

  std::size_t decisions = 0;
  double seconds = 0;  // of one core
};

}  // namespace bench::replay
