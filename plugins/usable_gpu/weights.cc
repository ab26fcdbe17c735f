#include "plugins/usable_gpu/weights.h"

#include "plugins/support/typical_pods.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plugins {
namespace {

using sched::ClusterContext;
using sched::TypicalPod;

// Adds the rare kinds of several GPUs; `covered` stays that of the frequent ones.
void add_multi_gpu(TypicalPods& typical, const ClusterContext& cluster) {
  std::vector<TypicalPod> rare;
  for (std::size_t i = typical.pods.size(); i < cluster.pods.size(); ++i) {
    if (cluster.pods[i].gpus >= 2) rare.push_back(cluster.pods[i]);
  }
  typical.pods.insert(typical.pods.end(), rare.begin(), rare.end());
}

// v^(half_exponents / 2).
double power(double v, std::int64_t half_exponents) {
  double result = half_exponents % 2 == 0 ? 1.0 : std::sqrt(v);
  for (std::int64_t i = 0; i < half_exponents / 2; ++i) result *= v;
  return result;
}

// The GPUs of the nodes with as many as the pod asks for, per GPU of those of them that could take
// it if they were empty; 0 when there is none; 1 when no node is known.
double scarcity(const TypicalPod& pod, const ClusterContext& cluster) {
  if (cluster.gpu_nodes.empty()) return 1.0;
  double large_enough = 0;
  double could_take = 0;
  for (const auto& [node, nodes] : cluster.gpu_nodes) {
    if (node.gpus < pod.gpus) continue;
    const double gpus = static_cast<double>(node.gpus) * static_cast<double>(nodes);
    large_enough += gpus;
    const bool allowed = pod.products.empty() ||
                         std::binary_search(pod.products.begin(), pod.products.end(), node.product);
    if (allowed && pod.cpu <= node.cpu && pod.memory <= node.memory) could_take += gpus;
  }
  return could_take > 0 ? large_enough / could_take : 0.0;
}

// Before normalisation.
double raw_weight(const TypicalPod& pod, std::uint64_t covered, const ClusterContext& cluster,
                  const UsableGpuWeights& how) {
  const double share = static_cast<double>(pod.count) / static_cast<double>(covered);
  double weight = how.popularity == Popularity::kSqrt ? std::sqrt(share) : share;
  if (pod.milli == 0) return weight;
  if (pod.gpus >= 2 && how.multi_gpu_factor > 0) {
    weight = share * static_cast<double>(how.multi_gpu_factor);
  } else {
    const double volume = static_cast<double>(pod.gpus) * static_cast<double>(pod.milli) / 1'000.0;
    weight /= power(volume, how.half_exponents);
  }
  if (how.scarcity) weight *= scarcity(pod, cluster);
  return weight;
}

}  // namespace

std::vector<WeightedKind> usable_gpu_weights(const ClusterContext& cluster,
                                             const UsableGpuWeights& how) {
  TypicalPods typical = typical_pods(cluster, how.coverage);
  if (how.keep_all_multi_gpu) add_multi_gpu(typical, cluster);
  std::vector<double> raw;
  double sum = 0;
  for (const TypicalPod& pod : typical.pods) {
    raw.push_back(raw_weight(pod, typical.covered, cluster, how));
    sum += raw.back();
  }
  std::vector<WeightedKind> kinds;
  if (sum == 0) return kinds;
  for (std::size_t i = 0; i < typical.pods.size(); ++i) {
    const TypicalPod& pod = typical.pods[i];
    if (pod.gpus == 0) continue;
    const double share = raw[i] / sum;
    kinds.push_back({.cpu = pod.cpu,
                     .memory = pod.memory,
                     .gpus = pod.gpus,
                     .milli = pod.milli,
                     .products = pod.products,
                     .weight = std::llround(share * static_cast<double>(kUnitWeight))});
  }
  return kinds;
}

std::int64_t cpu_scarcity(const ClusterContext& cluster) {
  double cpu = 0;
  double gpu = 0;
  for (const TypicalPod& pod : cluster.pods) {
    const auto count = static_cast<double>(pod.count);
    cpu += count * static_cast<double>(pod.cpu);
    gpu += count * static_cast<double>(pod.gpus * pod.milli) / 1'000.0;
  }
  if (gpu <= 0 || cluster.cpu <= 0 || cluster.gpus <= 0) return 0;
  const double asked = cpu / gpu;
  const double there = static_cast<double>(cluster.cpu) / static_cast<double>(cluster.gpus);
  const double scarce = std::clamp((asked / there - 0.95) / 0.05, 0.0, 1.0);
  return std::llround(scarce * static_cast<double>(kUnitWeight));
}

}  // namespace plugins
