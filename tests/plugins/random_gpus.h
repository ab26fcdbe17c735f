// Random nodes, pods and workloads for scores of GPUs, in plain terms, so that a test can write a
// definition down naively and compare.
#pragma once

#include "tests/plugins/gpu_node.h"

#include <cstdint>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace tests {

struct NaivePod {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;  // MiB
  std::int64_t gpus = 0;
  std::int64_t milli = 0;

  [[nodiscard]] bool is_share() const { return gpus == 1 && milli < 1'000; }
};
std::ostream& operator<<(std::ostream& out, const NaivePod& pod);

struct NaiveNode {
  std::string product;
  std::int64_t cpu = 0;               // free
  std::int64_t memory = 0;            // free, MiB
  std::vector<std::int64_t> devices;  // free of each

  [[nodiscard]] bool allows(const sched::TypicalPod& pod) const;
  // With the pod: on that device, or on the first free ones.
  [[nodiscard]] NaiveNode with(const NaivePod& pod, std::size_t device) const;

  [[nodiscard]] Scored ask(const sched::ScorePlugin& plugin, const NaivePod& pod,
                           const sched::ClusterContext& context) const;
};
std::ostream& operator<<(std::ostream& out, const NaiveNode& node);

// The greatest rating of the node with the pod; the first device that has it, if it is a share.
[[nodiscard]] Scored best_of(const NaiveNode& node, const NaivePod& pod,
                             const std::function<std::int64_t(const NaiveNode& after)>& rating);

class RandomGpus {
 public:
  explicit RandomGpus(std::uint32_t seed) : random_(seed) {}

  [[nodiscard]] sched::ClusterContext workload();
  [[nodiscard]] NaiveNode node();
  // One that fits.
  [[nodiscard]] NaivePod pod_for(const NaiveNode& node);

 private:
  [[nodiscard]] std::int64_t below(std::int64_t bound) {
    return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random_);
  }
  [[nodiscard]] std::int64_t size();

  std::mt19937 random_;
};

}  // namespace tests
