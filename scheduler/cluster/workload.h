// What the cluster consists of and what is asked of it: the statistics that scores may read,
// learned from the pods that arrive and the nodes that exist, and published as immutable versions.
//
// When a new version is due. Everything that was computed with the previous version is discarded,
// so a new version must be worth it. Pods: checked after 32, 64, … 1,024 arrivals. From then on
// every 1,024 arrivals, or every n / 2 arrivals with n nodes if that is more, because what is
// discarded grows with the nodes. A version is published if a fiftieth of the workload changed kind
// since the last version, or if a kind of multi-GPU pod is new. Nodes: when GPUs of a model that
// make up a twentieth of the cluster's were added or removed, or the first ones of a model; the
// pods of that version are those seen so far, but none before there are 32, because so few mean
// little, and what was computed with them would soon be discarded. CPU: when it has become scarce
// or no longer is (cpu_use.h), which is checked after as many changes of nodes as there are nodes,
// and 256 at least; the pods of that version are those of the one before. Old pods count less and
// less: all counts are halved when their sum reaches kMemory pods, so the statistics follow a
// workload that changes.
//
// Tenants could make up any number of kinds, and long lists of products; so memory is limited. When
// there are kMostKinds, the counts are halved, too, which drops the kinds that came once. A pod
// that names more products than any cluster has counts as if it named none. A version has only
// names of products that nodes have, because scores store data for each name.
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
  static constexpr std::uint64_t kMemory = 65'536;         // pods
  static constexpr std::uint64_t kFirstLook = 32;          // pods
  static constexpr std::size_t kMostKinds = 1'024;         // the published traces have 330 at most
  static constexpr std::size_t kMostProductBytes = 1'024;  // of a kind
  // Stands in a version for the products of a kind that names only products that no node has. No
  // product has this name.
  static constexpr const char* kNoNodes = "?";

  // With `known`, the kinds of pods are these, and none are learned. `devices_apart` as in
  // ClusterContext.
  explicit WorkloadStatistics(std::optional<std::vector<TypicalPod>> known, bool devices_apart);

  // A pod was seen for the first time.
  void pod_arrived(const PodShape& shape);
  // A node has these facts (before: other facts, or null: it did not exist) / is gone.
  void node_changed(const NodeFacts* before, const NodeFacts* now);

  // The latest version; publishes a new one first if one is due. `nodes`: those of node_changed().
  // O(1) most of the time.
  [[nodiscard]] const ClusterContextPtr& current(const Nodes& nodes);
  // The same without publishing.
  [[nodiscard]] const ClusterContextPtr& last() const { return published_; }

 private:
  struct Kind {  // ordered as ClusterContext::pods among equally frequent kinds, last first
    std::int64_t cpu = 0;
    std::int64_t milli = 0;
    std::int64_t gpus = 0;
    std::vector<std::string> products;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  struct Seen {
    std::uint64_t pods = 0;
    std::uint64_t memory = 0;  // MiB, the sum over these pods
  };

  void look_at_cpu(const Nodes& nodes);
  [[nodiscard]] bool pods_due();
  [[nodiscard]] std::uint64_t steady_interval() const;
  [[nodiscard]] bool nodes_due() const;
  [[nodiscard]] bool has_product(const std::string& product) const;
  void leave_out_absent(std::vector<std::string>& products) const;
  [[nodiscard]] std::vector<TypicalPod> by_frequency() const;
  void publish();
  void fade();

  bool learning_ = true;
  std::map<Kind, Seen> kinds_;
  std::uint64_t total_ = 0;             // pods in kinds_
  std::uint64_t arrivals_ = 0;          // ever
  std::uint64_t look_at_ = kFirstLook;  // arrivals at which kinds_ is checked next
  std::map<GpuNodeKind, std::int64_t> gpu_nodes_;
  std::int64_t gpus_ = 0;
  ChangeLog::Position look_at_cpu_ = 0;  // of the nodes' changes
  std::uint64_t nodes_ = 0;
  std::int64_t moved_gpus_ = 0;  // added or removed since the last version
  bool nodes_moved_ = false;
  bool new_product_ = false;  // on a node since the last version
  ClusterContextPtr published_;
};

// The kinds of `pods` in the order of ClusterContext::pods; their counts are summed up.
[[nodiscard]] std::vector<TypicalPod> kinds_of(const std::vector<PodShape>& shapes,
                                               bool devices_apart);

}  // namespace sched
