// The weight of each typical pod in the value of a node's GPUs, for UsableGpu.
#pragma once

#include "plugins/support/gpu_value.h"
#include "scheduler/framework/cluster_context.h"

#include <cstdint>

namespace plugins {

enum class Popularity : std::uint8_t { kLinear, kSqrt };

// The defaults held up best when pods come and go (usable_gpu.cc).
struct UsableGpuWeights {
  std::int64_t coverage = 90;  // per cent of the pods that the typical kinds cover
  Popularity popularity = Popularity::kLinear;
  std::int64_t half_exponents = 6;     // of v^-x, in halves: 6 is x = 3
  bool keep_all_multi_gpu = true;      // kinds of several GPUs are typical however rare they are
  std::int64_t multi_gpu_factor = 30;  // weight of several GPUs per popularity; 0: like all others
  bool scarcity = true;      // kinds that only few of the nodes are large enough for count more
  bool model_prices = true;  // GPUs of models that pods can run on alone are worth more

  friend bool operator==(const UsableGpuWeights&, const UsableGpuWeights&) = default;
};

// The sum of the weights of all kinds that may run on a model, including those of pods without GPU,
// which are in no value; the price comes on top.
inline constexpr std::int64_t kUnitWeight = 1 << 20;

// The highest price of a model's GPU (usable_gpu.cc), in GPUs.
inline constexpr std::int64_t kMostPrice = 2;

// The kinds with GPU, with weights in units of kUnitWeight, rounded. The price of a model is one
// kind more there, which any free thousandth of a GPU is usable for. Computed in doubles, but only
// by +, ·, / and √, which IEEE 754 rounds exactly: so the weights are equal on every machine.
[[nodiscard]] KindsByModel usable_gpu_weights(const sched::ClusterContext& cluster,
                                              const UsableGpuWeights& how);

}  // namespace plugins
