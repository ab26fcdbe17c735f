// Makes the scores of UsableGpu (usable_gpu.cc), for the plugin of that name and for GpuPacking.
#pragma once

#include "plugins/support/gpu_ask.h"
#include "plugins/support/gpu_value.h"
#include "plugins/support/per_version.h"
#include "plugins/usable_gpu/args.h"
#include "scheduler/framework/plugin.h"

#include <cstdint>
#include <memory>

namespace plugins {

class UsableGpuScoring {
 public:
  explicit UsableGpuScoring(const UsableGpuArgs& args) : args_(args) {}

  // nullptr: no workload is known yet.
  [[nodiscard]] std::unique_ptr<sched::NodeScore> prepare(
      const GpuAsk& ask, const sched::ClusterContextPtr& cluster) const;

  // The score of a node on which a pod destroys exactly what it takes (a key of 0).
  [[nodiscard]] std::int64_t neutral() const;
  // Keys lie in −(all GPUs of the largest node destroyed for nothing asked) / quantum … twice that
  // (all asked for and as much gained), both around neutral().
  [[nodiscard]] std::int64_t max_score() const { return 3 * neutral(); }

 private:
  UsableGpuArgs args_;
  mutable PerVersion<GpuValue> value_;
};

}  // namespace plugins
