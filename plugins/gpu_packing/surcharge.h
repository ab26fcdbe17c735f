// What GpuPacking adds to a score for whole nodes and for scarce GPU types.
//
// Both are a price, in points of UsableGpu's score: to start on an untouched node has a price, and
// each step from cheap to expensive types has one. The rest of the greatest possible price is
// added, so that no score is lower than it would be without.
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
  // `quantum`: milli-GPU per point.
  Surcharge(const GpuPackingArgs& args, std::int64_t quantum);

  // The most that score() adds.
  [[nodiscard]] std::int64_t most() const { return start_price_ + most_type_price(); }

  // A score of `base` (null: 0 everywhere) plus the rest of the price; `base` itself if nothing has
  // a price for such pods.
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
