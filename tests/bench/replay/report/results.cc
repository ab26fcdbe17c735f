#include "tests/bench/replay/report/results.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace bench::replay {
namespace {

constexpr std::size_t kGpusPerNode = 8;

std::string product_of(std::size_t node) { return node % 3 == 0 ? "T4" : "G2"; }

// Most causes small, one large; sums up to what is free.
std::array<double, kCauses> split(double free, double usable) {
  const double lost = free - usable;
  std::array<double, kCauses> shares{};
  shares[static_cast<std::size_t>(Cause::kSatisfied)] = usable;
  shares[static_cast<std::size_t>(Cause::kLackGpu)] = lost * 0.5;
  shares[static_cast<std::size_t>(Cause::kLackCpu)] = lost * 0.25;
  shares[static_cast<std::size_t>(Cause::kLackBoth)] = lost * 0.1;
  shares[static_cast<std::size_t>(Cause::kNoGpuAsked)] = lost * 0.15;
  return shares;
}

Step step_at(double x, double unallocated, std::uint64_t seed) {
  const double noise = 0.15 * std::sin(static_cast<double>(seed) * 12.9 + x / 9);
  Step step;
  step.x = x;
  step.arrivals = static_cast<std::size_t>(x * 80);
  step.allocated = std::min(x, 100 - unallocated - std::max(0.0, 104 - x) / 20 + noise);
  step.refused = std::max(0.0, x - step.allocated) / std::max(x, 1.0) * 100;
  const double free = 100 - step.allocated;
  step.free_by_cause = split(free, std::max(0.0, free - unallocated * (1.6 - x / 220)));
  return step;
}

Snapshot snapshot_at(const Trace& trace, const std::string& title, double taken) {
  Snapshot snapshot;
  snapshot.title = title;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    Snapshot::NodeState node;
    for (std::size_t g = 0; g < kGpusPerNode; ++g) {
      const double draw = std::fmod(static_cast<double>(i * 7919 + g * 104729) * 0.618034, 1.0);
      const double margin = taken - draw;
      node.devices.push_back(margin > 0.04 ? 1000
                             : margin > 0  ? static_cast<std::int32_t>(margin * 25000)
                                           : 0);
    }
    node.cpu = std::fmod(static_cast<double>(i) * 0.377, 1.0);
    snapshot.nodes.push_back(std::move(node));
  }
  return snapshot;
}

void fill_groups(Result& result, const Trace& trace, double allocated) {
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    GroupUse& use = result.by_product[product_of(i)];
    use.capacity += kGpusPerNode;
    use.allocated += kGpusPerNode * allocated / 100;
    use.pods = use.placed += 5;
  }
  for (int i = 0; i < 4; ++i) {
    GroupUse& use = result.by_namespace[fmt::format("team-{}", i)];
    use.pods = 1000;
    use.placed = 900 + static_cast<std::size_t>(i) * 20;
    use.asked = 700.5 + i;
    use.allocated = 600.25;
  }
}

}  // namespace

Trace made_trace(const std::string& name, std::size_t nodes) {
  Trace trace;
  trace.name = name;
  for (std::size_t i = 0; i < nodes; ++i) {
    k8s::Node node;
    node.metadata.name = fmt::format("openb-node-{:04}", i);
    node.metadata.labels.set("nvidia.com/gpu.product", product_of(i));
    trace.nodes.push_back(std::move(node));
  }
  trace.counts = {{"nodes", nodes}, {"pods", 8152}, {"pods without GPU", 1088}};
  return trace;
}

Result filled_result(const Trace& trace, const std::string& policy, std::uint64_t seed,
                     double unallocated) {
  Result result;
  result.trace = trace.name;
  result.policy = policy;
  result.tie_break = "shuffled-nodes";
  result.arrival = "inflate:130";
  result.seed = seed;
  for (int x = 0; x <= 130; ++x) result.steps.push_back(step_at(x, unallocated, seed));
  const Step& last = result.steps.back();
  result.figures = {{"unallocated", 100 - last.allocated},
                    {"allocated", last.allocated},
                    {"fragmented", last.fragmented()},
                    {"refused", last.refused},
                    {"refused_pods", 2512},
                    {"placed_pods", 7740},
                    {"gpus", static_cast<double>(trace.nodes.size() * kGpusPerNode)}};
  result.snapshots = {snapshot_at(trace, "at 50 % arrival", 0.5),
                      snapshot_at(trace, "at 90 % arrival", 0.88),
                      snapshot_at(trace, "at the end", 1 - unallocated / 100)};
  fill_groups(result, trace, last.allocated);
  result.refused = {
      {"8 GPU, 64 CPU, 256Gi", 23, 184, "team-1/openb-pod-4711",
       "0/1213 nodes are available: 1213 Insufficient nvidia.com/gpu.",
       "549 of model G2 have at most 7 GPUs free."},
      {"460 milli-GPU, 12 CPU, 31Gi", 190, 87.4, "team-0/openb-pod-0815",
       "0/1213 nodes are available: 404 Insufficient cpu, 809 no GPU with 460 thousandths free.",
       ""}};
  result.decisions = 10252;
  result.seconds = 0.71;
  return result;
}

Result result_over_time(const Trace& trace, const std::string& policy, std::uint64_t seed,
                        double hours, double allocated) {
  Result result = filled_result(trace, policy, seed, 100 - allocated);
  result.arrival = "stationary:95";
  result.over_time = true;
  result.steps.clear();
  constexpr int kSlices = 100;
  for (int i = 0; i <= kSlices; ++i) {
    Step step = step_at(100, 100 - allocated, seed + static_cast<std::uint64_t>(i));
    step.x = hours * i / kSlices;
    step.waiting = static_cast<std::size_t>(40 + 30 * std::sin(i / 8.0));
    result.steps.push_back(step);
  }
  for (int i = 0; i < 1000; ++i) {
    result.waits.push_back(i < 600 ? 0 : std::exp((i - 600) / 33.0) * (100 - allocated) / 5);
  }
  result.figures["wait_p50"] = 0;
  result.figures["wait_p99"] = result.waits[989];
  return result;
}

}  // namespace bench::replay
