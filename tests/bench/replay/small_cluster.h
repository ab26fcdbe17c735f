// Small traces for tests of the replay, as sentences.
#pragma once

#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/policies/policies.h"
#include "bench/replay/trace/trace.h"
#include "tests/support/builders.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

// A node with GPUs that offers shares of them.
[[nodiscard]] inline NodeBuilder gpu_node(std::string_view name, std::int64_t gpus) {
  return node(name).gpus(gpus).offers("gpu-scheduler.io/gpu-milli", std::to_string(gpus * 1000));
}
// A pod with whole GPUs, or with thousandths of one.
[[nodiscard]] inline PodBuilder gpu_pod(std::string_view name, std::int64_t gpus) {
  return pod(name).gpus(gpus).cpu("1");
}
[[nodiscard]] inline PodBuilder share_pod(std::string_view name, std::int64_t milli) {
  return pod(name).requests("gpu-scheduler.io/gpu-milli", std::to_string(milli)).cpu("1");
}

[[nodiscard]] inline bench::replay::Trace trace_of(std::vector<k8s::Node> nodes,
                                                   std::vector<k8s::Pod> pods) {
  bench::replay::Trace trace;
  trace.name = "small";
  trace.nodes = std::move(nodes);
  for (k8s::Pod& pod : pods) trace.pods.emplace_back().pod = std::move(pod);
  trace.devices_apart = true;
  return trace;
}

// The trace's pods one after the other; none leaves.
[[nodiscard]] inline bench::replay::Workload one_by_one(const bench::replay::Trace& trace) {
  bench::replay::Workload workload;
  for (std::size_t i = 0; i < trace.pods.size(); ++i) {
    workload.arrivals.push_back({.pod = i, .at = std::chrono::seconds(i), .leaves = std::nullopt});
  }
  return workload;
}

// Fills nodes by CPU and memory; of equals the first by name.
[[nodiscard]] inline bench::replay::Policy packing(const std::string& name = "packing") {
  return {.name = name, .file = name + ".yaml", .config = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
  - schedulerName: )" + name + R"(
    tieBreak: first-node
    plugins:
      score:
        disabled: [{name: "*"}]
        enabled: [{name: NodeResourcesFit, weight: 1}]
)"};
}

// The same, emptiest node first.
[[nodiscard]] inline bench::replay::Policy spreading(const std::string& name = "spreading") {
  bench::replay::Policy policy = packing(name);
  policy.config += R"(
    pluginConfig:
      - name: NodeResourcesFit
        args: {scoringStrategy: {type: LeastAllocated}}
)";
  return policy;
}

}  // namespace tests
