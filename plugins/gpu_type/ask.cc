#include "plugins/gpu_type/ask.h"

#include "plugins/support/gibibytes.h"
#include "scheduler/gpu/mig/resource_name.h"

#include <algorithm>
#include <limits>

namespace plugins {

using namespace sched;

GpuTypeAsk::GpuTypeAsk(const PodShape& shape, const ResourceNames& names) : wishes_(shape.wishes) {
  for (const ResourceAmount& request : shape.requests) {
    if (gpu::mig::parse_resource(names.name(request.resource))) {
      instances_.push_back(request.resource);
    }
  }
}

bool GpuTypeAsk::is_none() const {
  return wishes_.types.empty() && wishes_.min_memory == 0 && !wishes_.min_compute.is_known() &&
         !wishes_.min_driver.is_known() && !wishes_.min_cuda.is_known();
}

std::optional<std::size_t> GpuTypeAsk::type_of(const gpu::Inventory& gpu) const {
  if (wishes_.types.empty()) return 0;
  for (std::size_t i = 0; i < wishes_.types.size(); ++i) {
    const gpu::TypeName& type = wishes_.types[i];
    if (!gpu::matches(type, gpu.product)) continue;
    if (type.mig_profile.empty() || type.mig_profile == gpu.single_profile) return i;
  }
  return std::nullopt;
}

std::int64_t GpuTypeAsk::memory_of(const gpu::Inventory& gpu) const {
  if (instances_.empty()) return gpu.memory_mib * kMib;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const ResourceId resource : instances_) {
    const auto found = std::find_if(
        gpu.instances.begin(), gpu.instances.end(),
        [&](const gpu::MigInstances& offered) { return offered.resource == resource; });
    least = std::min(least, found == gpu.instances.end() ? 0 : found->memory_mib);
  }
  return least * kMib;
}

}  // namespace plugins
