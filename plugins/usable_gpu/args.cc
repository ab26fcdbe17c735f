#include "plugins/usable_gpu/args.h"

#include "plugins/support/args.h"

#include <cmath>

namespace plugins {
namespace {

using k8s::yaml::ObjectReader;

void read_exponent(ObjectReader& args, UsableGpuWeights& weights) {
  const auto exponent = args.number("weightExponent");
  if (!exponent) return;
  const double halves = *exponent * 2;
  if (!(halves >= 0 && halves <= 16) || halves != std::floor(halves)) {
    args.complain("weightExponent", "must be 0, 0.5, 1, … 8");
    return;
  }
  weights.half_exponents = static_cast<std::int64_t>(halves);
}

void read_multi_gpu(ObjectReader& fields, UsableGpuWeights& weights) {
  weights.keep_all_multi_gpu = fields.boolean("keepAll").value_or(weights.keep_all_multi_gpu);
  weights.multi_gpu_factor =
      fields.integer("factor", {.min = 0, .max = 1'000'000}).value_or(weights.multi_gpu_factor);
}

}  // namespace

UsableGpuArgs read_usable_gpu_args(ObjectReader& args) {
  UsableGpuArgs read;
  UsableGpuWeights& weights = read.weights;
  read_type(args, "UsableGpuArgs");
  weights.coverage = args.integer("coverage", {.min = 1, .max = 100}).value_or(weights.coverage);
  if (args.one_of("popularity", {"linear", "sqrt"}) == "sqrt") {
    weights.popularity = Popularity::kSqrt;
  }
  read_exponent(args, weights);
  read.quantum = args.integer("quantum", {.min = 1, .max = 8'000}).value_or(read.quantum);
  read.conserve_cpu =
      args.integer("conserveCpu", {.min = 0, .max = 100}).value_or(read.conserve_cpu);
  args.object("multiGpu", [&](ObjectReader& fields) { read_multi_gpu(fields, weights); });
  weights.scarcity = args.boolean("scarcity").value_or(weights.scarcity);
  weights.model_prices = args.boolean("modelPrices").value_or(weights.model_prices);
  return read;
}

}  // namespace plugins
