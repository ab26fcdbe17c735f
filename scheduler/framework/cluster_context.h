// What plugins may read about the cluster and its workload as a whole: slowly changing statistics,
// as immutable versions.
//
// The engine learns them from the pods that arrive and the nodes that exist. It publishes a new
// version from time to time (scheduler/cluster/workload.h says when), not at every event: an answer
// that was computed with one version is discarded with the next.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sched {

// A kind of pod, by its GPUs and CPU, and how often it came. Pods that differ in memory alone are
// of one kind, as in Weng et al., "Beware of Fragmentation", ATC'23.
struct TypicalPod {
  std::int64_t cpu = 0;    // milli-CPU
  std::int64_t gpus = 0;   // devices; 0: a pod without GPU
  std::int64_t milli = 0;  // of each device, 0 … 1,000
  // GPU models it may run on, sorted; empty: any. Of learned ones, only models of nodes, or
  // WorkloadStatistics::kNoNodes.
  std::vector<std::string> products;
  std::uint64_t count = 0;
  std::int64_t memory = 0;  // MiB, rounded down; the mean of its pods

  friend bool operator==(const TypicalPod&, const TypicalPod&) = default;
};

// A kind of node with whole GPUs.
struct GpuNodeKind {
  std::string product;      // empty: its labels name none
  std::int64_t gpus = 0;    // of one node
  std::int64_t cpu = 0;     // milli-CPU, allocatable, of whole cores
  std::int64_t memory = 0;  // MiB, allocatable, of whole GiB
  friend auto operator<=>(const GpuNodeKind&, const GpuNodeKind&) = default;
};

struct ClusterContext {
  std::uint64_t version = 0;  // grows with each version
  // The kinds of pods seen, the most frequent first; equally frequent ones by cpu, milli, gpus and
  // products, all descending, as FGD's published code has them.
  std::vector<TypicalPod> pods;
  std::uint64_t pods_seen = 0;                    // the sum of their counts
  std::map<GpuNodeKind, std::int64_t> gpu_nodes;  // how many nodes there are of each kind
  std::int64_t gpus = 0;                          // whole GPUs, the sum over the nodes
  bool cpu_is_scarce = false;                     // on these nodes (scheduler/cluster/cpu_use.h)
  // Devices are chosen one by one (replay): pods may ask for a share of one GPU.
  bool devices_apart = false;

  friend bool operator==(const ClusterContext&, const ClusterContext&) = default;
};

using ClusterContextPtr = std::shared_ptr<const ClusterContext>;  // never null

}  // namespace sched
