// What GpuPacking adds to a score for the sake of whole nodes and of scarce GPU types.
//
// Both are a price, in points of UsableGpu's score: starting on an untouched node has one, and so
// has each step from cheap to dear types. What is left of the greatest possible price is added, so
// that no score falls below what it would be otherwise.
#pragma once

#include "plugins/gpu_packing/args.h"
#include "plugins/support/gpu_ask.h"
#include "scheduler/framework/plugin.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace plugins {

class Surcharge {
 public:
  // `quantum`: milli-GPU to a point.
  Surcharge(const GpuPackingArgs& args, std::int64_t quantum);

  // The most that score() adds.
  [[nodiscard]] std::int64_t most() const { return start_price_ + most_type_price(); }

  // A score that is `base` (null: 0 everywhere) plus what is left of the price; `base` itself where
  // nothing has a price for such pods.
  [[nodiscard]] std::unique_ptr<sched::NodeScore> on_top_of(std::unique_ptr<sched::NodeScore> base,
                                                            const sched::PodShape& shape,
                                                            const GpuAsk& ask) const;

 private:
  [[nodiscard]] std::int64_t most_type_price() const;

  std::int64_t start_price_;
  std::int64_t price_of_a_gpu_;  // per step between types
  std::vector<sched::gpu::TypeName> types_;
};

}  // namespace plugins
