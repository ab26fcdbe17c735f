// What the cluster is made of and what it is asked for: the statistics that scores may read,
// learned from the pods that arrive and the nodes that are there, and published as immutable
// versions.
//
// When a version is due. Everything that was computed with the version before is thrown away, so a
// new one must be worth it. Pods: looked at after 32, 64, … 1,024 arrivals and then every 1,024, or
// as many as there are pairs of nodes if that is more (what is thrown away grows with the nodes),
// and published if a fiftieth of the workload changed kind since the last version or a kind of
// multi-GPU pod is new. Nodes: when GPUs of a model came or went that make up a twentieth of the
// cluster's; the pods are then those seen so far, none of them before there are 32: so few say
// little, and what was computed with them would be thrown away soon. What came long ago counts ever
// less: all counts are halved when their sum has grown to kMemory pods, so a workload that changes
// is followed.
#pragma once

#include "scheduler/cluster/nodes.h"
#include "scheduler/framework/cluster_context.h"
#include "scheduler/framework/pod_shape.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sched {

class WorkloadStatistics {
 public:
  static constexpr std::uint64_t kMemory = 65'536;  // pods
  static constexpr std::uint64_t kFirstLook = 32;   // pods

  // With `known` the kinds of pods are those, and none are learned. `devices_apart` as in
  // ClusterContext.
  explicit WorkloadStatistics(std::optional<std::vector<TypicalPod>> known, bool devices_apart);

  // A pod was seen for the first time.
  void pod_arrived(const PodShape& shape);
  // A node is there, with these facts (before: others, or null: it was not) / is gone.
  void node_changed(const NodeFacts* before, const NodeFacts* now);

  // The latest version, after publishing a new one if one is due. O(1) most of the time.
  [[nodiscard]] const ClusterContextPtr& current();
  // The same without publishing.
  [[nodiscard]] const ClusterContextPtr& last() const { return published_; }

 private:
  struct Kind {  // ordered as ClusterContext::pods among the equally frequent, last first
    std::int64_t cpu = 0;
    std::int64_t milli = 0;
    std::int64_t gpus = 0;
    std::vector<std::string> products;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  [[nodiscard]] bool pods_due();
  [[nodiscard]] std::uint64_t steady_interval() const;
  [[nodiscard]] bool nodes_due() const;
  [[nodiscard]] std::vector<TypicalPod> by_frequency() const;
  void publish();
  void fade();

  bool learning_ = true;
  std::map<Kind, std::uint64_t> kinds_;
  std::uint64_t total_ = 0;             // sum over kinds_
  std::uint64_t arrivals_ = 0;          // ever
  std::uint64_t look_at_ = kFirstLook;  // arrivals at which kinds_ are looked at next
  std::map<std::string, std::int64_t> gpus_by_product_;
  std::int64_t cpu_ = 0;  // milli-CPU of nodes with GPUs
  std::uint64_t nodes_ = 0;
  std::int64_t moved_gpus_ = 0;  // came or went since the last version
  bool nodes_moved_ = false;
  ClusterContextPtr published_;
};

// The kinds of `pods` in the order of ClusterContext::pods; their counts are summed up.
[[nodiscard]] std::vector<TypicalPod> kinds_of(const std::vector<PodShape>& shapes,
                                               bool devices_apart);

}  // namespace sched
