#include "scheduler/quota/demand.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/inventory.h"

#include <string_view>

namespace sched::quota {
namespace {

constexpr std::string_view kSharedSuffix = ".shared";

Instances instances_of(std::string_view profile, std::int64_t count) {
  const bool shared = profile.ends_with(kSharedSuffix);
  if (shared) profile.remove_suffix(kSharedSuffix.size());
  return {.profile = std::string(profile), .count = count, .shared = shared};
}

}  // namespace

Demand demand_of(const std::vector<ResourceAmount>& requests, const ResourceNames& names) {
  Demand demand;
  for (const auto& [resource, amount] : requests) {
    if (amount <= 0 || resource < kNvidiaGpu) continue;
    if (resource == kNvidiaGpu) {
      demand.gpus = amount;
      continue;
    }
    const std::string_view name = names.name(resource);
    if (name == gpu::kSharedResource) demand.shared = amount;
    if (name == gpu::kMilliResource) demand.milli = amount;
    if (name.starts_with(gpu::kMigResourcePrefix)) {
      demand.instances.push_back(instances_of(name.substr(gpu::kMigResourcePrefix.size()), amount));
    }
  }
  if (demand.gpus > 0) demand.milli = 0;
  return demand;
}

}  // namespace sched::quota
