#include "plugins/usable_gpu/weights.h"

#include "plugins/support/typical_pods.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>

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

// GPUs by model.
using ByModel = std::map<std::string, double, std::less<>>;

// What pods of a kind would find if the cluster were empty.
struct Room {
  double enough_gpus = 0;  // GPUs of the nodes with as many as one pod asks for
  double fitting = 0;      // those of the nodes whose CPU and memory suffice as well
  double allowed = 0;      // those of them on models that it may run on
  ByModel by_model;        // where these are
};

Room room_for(const TypicalPod& pod, const ClusterContext& cluster) {
  Room room;
  for (const auto& [node, nodes] : cluster.gpu_nodes) {
    if (node.gpus < pod.gpus) continue;
    const double gpus = static_cast<double>(node.gpus) * static_cast<double>(nodes);
    room.enough_gpus += gpus;
    if (pod.cpu > node.cpu || pod.memory > node.memory) continue;
    room.fitting += gpus;
    if (!may_run_on(pod, node.product)) continue;
    room.allowed += gpus;
    room.by_model[node.product] += gpus;
  }
  return room;
}

// s of usable_gpu.cc; 0 when no node is large enough; 1 when no node is known.
double scarcity(const TypicalPod& pod, const ClusterContext& cluster) {
  if (cluster.gpu_nodes.empty()) return 1.0;
  const Room room = room_for(pod, cluster);
  return room.fitting > 0 ? room.enough_gpus / room.fitting : 0.0;
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
  if (how.scarcity) {
    const double scarce = scarcity(pod, cluster);
    weight *= scarce * std::sqrt(std::sqrt(scarce));
  }
  return weight;
}

// The kinds that may run on the model; their weights and those of pods without GPU add up to
// kUnitWeight.
std::vector<WeightedKind> kinds_on(const std::string& model, const std::vector<TypicalPod>& pods,
                                   const std::vector<double>& raw) {
  double sum = 0;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (may_run_on(pods[i], model)) sum += raw[i];
  }
  std::vector<WeightedKind> kinds;
  if (sum == 0) return kinds;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const TypicalPod& pod = pods[i];
    if (pod.gpus == 0 || !may_run_on(pod, model)) continue;
    const double share = raw[i] / sum;
    kinds.push_back({.cpu = pod.cpu,
                     .memory = pod.memory,
                     .gpus = pod.gpus,
                     .milli = pod.milli,
                     .weight = std::llround(share * static_cast<double>(kUnitWeight))});
  }
  return kinds;
}

ByModel gpus_by_model(const ClusterContext& cluster) {
  ByModel gpus;
  for (const auto& [node, nodes] : cluster.gpu_nodes) {
    gpus[node.product] += static_cast<double>(node.gpus) * static_cast<double>(nodes);
  }
  return gpus;
}

// ρ of usable_gpu.cc by model; under "" that of the nodes without a model label.
ByModel confined_demand(const ClusterContext& cluster) {
  const ByModel gpus = gpus_by_model(cluster);
  double all_gpus = 0;
  for (const auto& [model, there] : gpus) all_gpus += there;
  ByModel demand;  // GPUs asked for per GPU of the model
  double all_asked = 0;
  for (const TypicalPod& pod : cluster.pods) {
    const double asked =
        static_cast<double>(pod.count) * static_cast<double>(pod.gpus * pod.milli) / 1'000.0;
    if (asked == 0) continue;
    const Room room = room_for(pod, cluster);
    if (room.allowed == 0) continue;
    all_asked += asked;
    const double of = pod.products.empty() ? room.enough_gpus : all_gpus;
    const double confined = std::min(1.0, 2.0 * (1.0 - room.allowed / of));
    const double per_gpu = confined * static_cast<double>(pod.gpus) * asked / room.allowed;
    for (const auto& [model, there] : room.by_model) {
      demand[model] += per_gpu * there / gpus.at(model);
    }
  }
  for (auto& [model, asked] : demand) asked *= all_gpus / all_asked;
  return demand;
}

// Of a GPU of a model with this ρ, in GPUs; less than a thousandth is nothing.
double price(double demand) {
  const double cube = demand * demand * demand;
  return cube < 0.001 ? 0.0 : std::min(cube, static_cast<double>(kMostPrice));
}

}  // namespace

KindsByModel usable_gpu_weights(const ClusterContext& cluster, const UsableGpuWeights& how) {
  TypicalPods typical = typical_pods(cluster, how.coverage);
  if (how.keep_all_multi_gpu) add_multi_gpu(typical, cluster);
  std::vector<double> raw;
  for (const TypicalPod& pod : typical.pods) {
    raw.push_back(raw_weight(pod, typical.covered, cluster, how));
  }
  KindsByModel kinds;
  for (const std::string& model : models_apart(typical.pods)) {
    kinds[model] = kinds_on(model, typical.pods, raw);
  }
  if (!how.model_prices) return kinds;
  const auto on = [&](const std::string& model) -> std::vector<WeightedKind>& {
    const auto [on_model, is_new] = kinds.try_emplace(model);
    if (is_new) on_model->second = kinds_on(model, typical.pods, raw);
    return on_model->second;
  };
  for (const auto& [model, demand] : confined_demand(cluster)) {
    const double weight = price(demand) * static_cast<double>(kUnitWeight);
    if (weight == 0) continue;
    if (model.empty()) {  // stands for all models without an entry, which this price is not for
      for (const auto& [other, there] : gpus_by_model(cluster)) on(other);
    }
    on(model).push_back({.gpus = 1, .milli = 1, .weight = std::llround(weight)});
  }
  return kinds;
}

}  // namespace plugins
