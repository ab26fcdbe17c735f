// The arguments of GpuHealth (gpu_health.cc).
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "scheduler/gpu/health.h"

#include <string>
#include <vector>

namespace plugins {

struct GpuHealthArgs {
  std::vector<std::string> unhealthy_conditions;  // types, sorted
  std::vector<std::string> unhealthy_taints;      // keys, sorted
  sched::gpu::RejectionLimits rejections;
  friend bool operator==(const GpuHealthArgs&, const GpuHealthArgs&) = default;
};

[[nodiscard]] GpuHealthArgs read_gpu_health_args(k8s::yaml::ObjectReader& args);

}  // namespace plugins
