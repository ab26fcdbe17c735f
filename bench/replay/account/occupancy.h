// What is taken of each GPU of each node, and the sums over the cluster, updated by changes.
//
// It follows the decisions of an engine without questions to it, so that what is reported is
// counted separately from what decided. If the engine keeps devices one by one, its decisions name
// them. If it only counts them (or a pod was bound before), devices are chosen here by the replay's
// own rule, whole GPUs the first free ones, so that the pictures are meaningful.
//
// A change costs O(devices × typical pods) of its node, and no look at other nodes.
#pragma once

#include "bench/replay/account/kind_of_pod.h"
#include "scheduler/cluster/fragmentation.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/gpu/devices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

class Occupancy {
 public:
  explicit Occupancy(sched::Fragmentation fragmentation)
      : fragmentation_(std::move(fragmentation)) {}

  // A taken place, for give_back(). A pod with GPUs but no device is on an over-committed node.
  struct Place {
    std::size_t node = 0;  // index in nodes()
    std::vector<sched::gpu::DeviceShare> devices;
    std::int64_t cpu_milli = 0;
    std::int64_t gpu_milli = 0;
  };

  struct Node {
    std::string name;
    std::string product;
    bool present = false;
    std::int64_t gpus = 0;
    std::int64_t slices = 8;  // memory slices of each
    std::int64_t cpu_milli = 0;
    std::int64_t cpu_taken = 0;
    sched::gpu::DeviceUses devices;
    std::int64_t gpu_taken = 0;  // thousandths that its pods hold

    std::size_t product_id = 0;
    sched::FreeByCause free_by_cause{};  // counted in the sum

    // Thousandths taken of a device; 0 for a device that the node does not have.
    [[nodiscard]] std::int32_t taken_of(std::size_t device) const;
    [[nodiscard]] std::int64_t capacity() const { return gpus * sched::gpu::kMilliPerGpu; }
    // What is taken of the GPUs that the node has. Pods stay when it offers fewer, such as none
    // while its device plugin restarts.
    [[nodiscard]] std::int64_t taken() const { return std::min(gpu_taken, capacity()); }
  };

  // A node appeared or changed. What pods hold there stays.
  void upsert_node(const sched::NodeFacts& facts);
  void erase_node(std::string_view name);

  // `devices`: from the decision; empty: chosen here. nullopt: no node of that name was ever seen.
  std::optional<Place> take(const std::string& node, const KindOfPod& pod,
                            const std::vector<sched::gpu::DeviceShare>& devices);
  void give_back(const Place& place);

  // In the order in which they were first seen, including those that are gone.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  // Of these; null: no node of that name was ever seen.
  [[nodiscard]] const Node* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &nodes_[found->second];
  }

  // Sums over the existing nodes, in thousandths of a GPU.
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] std::int64_t taken() const { return taken_; }
  // × weight().
  [[nodiscard]] const sched::FreeByCause& free_by_cause() const { return free_by_cause_; }
  [[nodiscard]] std::int64_t weight() const { return fragmentation_.weight(); }

 private:
  void count(Node& node);
  void discount(Node& node);

  sched::Fragmentation fragmentation_;
  std::vector<Node> nodes_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::int64_t capacity_ = 0;
  std::int64_t taken_ = 0;
  sched::FreeByCause free_by_cause_{};
  std::vector<std::int32_t> free_;  // reused by count()
};

}  // namespace bench::replay
