#include "scheduler/quota/demand.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/resource_kind.h"

#include <algorithm>
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
    const std::string_view name = names.name(resource);
    if (name == gpu::kMilliResource) demand.milli = amount;
    switch (gpu::kind_of_resource(name)) {
      case gpu::ResourceKind::kGpu:
        demand.gpus = amount;
        break;
      case gpu::ResourceKind::kShared:
        demand.shared = amount;
        break;
      case gpu::ResourceKind::kInstance:
        demand.instances.push_back(
            instances_of(name.substr(gpu::kMigResourcePrefix.size()), amount));
        break;
      case gpu::ResourceKind::kOwnName:
        demand.own_names = saturating_add(demand.own_names, amount);
        break;
      case gpu::ResourceKind::kNoGpu:
        break;
    }
  }
  if (demand.gpus > 0) demand.milli = 0;
  return demand;
}

void add(Demand& to, const Demand& more) {
  to.pods += more.pods;
  to.gpus = saturating_add(to.gpus, more.gpus);
  to.shared = saturating_add(to.shared, more.shared);
  to.milli = saturating_add(to.milli, more.milli);
  to.own_names = saturating_add(to.own_names, more.own_names);
  for (const Instances& each : more.instances) {
    const auto known =
        std::find_if(to.instances.begin(), to.instances.end(), [&](const Instances& its) {
          return its.profile == each.profile && its.shared == each.shared;
        });
    if (known == to.instances.end()) {
      to.instances.push_back(each);
    } else {
      known->count = saturating_add(known->count, each.count);
    }
  }
}

}  // namespace sched::quota
