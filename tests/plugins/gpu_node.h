// Asks scores about one node with GPUs that are kept one by one.
#pragma once

#include "scheduler/framework/plugin.h"
#include "tests/support/builders.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

// What a score says of a node, and which device it wants for a share; −1: none in particular.
struct Scored {
  std::int64_t score = 0;
  int device = -1;
  friend bool operator==(const Scored&, const Scored&) = default;
};
std::ostream& operator<<(std::ostream& out, const Scored& scored);

class GpuNode {
 public:
  // With that much free of its CPU (milli-CPU) and of each device (thousandths).
  GpuNode(std::int64_t free_cpu, const std::vector<std::int32_t>& free_devices);

  GpuNode& named(std::string_view name);
  GpuNode& memory(std::int64_t mebibytes);  // free
  GpuNode& product(std::string_view product);
  // Pods that it is said to hold, by class; what they take is in the free amounts.
  GpuNode& holds(sched::gpu::SizeClass size, std::uint32_t pods);

  [[nodiscard]] sched::NodeView view() const { return {facts_, usage_}; }
  // {−1, −1} when the plugin has nothing to say about the pod.
  [[nodiscard]] Scored ask(const sched::ScorePlugin& plugin, const k8s::Pod& pod,
                           const sched::ClusterContext& context = {}) const;

 private:
  sched::NodeFacts facts_;
  sched::NodeUsage usage_;
};

// A pod that asks for that much CPU (milli) and for whole GPUs or a share of one (thousandths).
[[nodiscard]] k8s::Pod cpu_pod(std::int64_t cpu);
[[nodiscard]] k8s::Pod gpu_pod(std::int64_t cpu, std::int64_t gpus);
[[nodiscard]] k8s::Pod share_pod(std::int64_t cpu, std::int64_t milli);

// A kind of pod that came `count` times.
[[nodiscard]] sched::TypicalPod kind(std::uint64_t count, std::int64_t cpu, std::int64_t gpus,
                                     std::int64_t milli, std::vector<std::string> products = {});

// Statistics of a workload of such pods, with GPUs kept one by one.
[[nodiscard]] sched::ClusterContext workload(std::vector<sched::TypicalPod> pods);

}  // namespace tests
