#include "scheduler/gpu/mig/configurations.h"

#include <algorithm>

namespace sched::gpu::mig {
namespace {

std::string label_value(const Profile& profile) {
  std::string name = "all-" + profile.name;
  std::replace(name.begin(), name.end(), '+', '.');
  return name;
}

// The first plain profile of that many compute slices; if several, the one with the least memory.
const Profile* plain(const Geometry& geometry, unsigned compute_slices) {
  const Profile* found = nullptr;
  for (const Profile& each : geometry.profiles) {
    if (each.is_variant || each.compute_slices != compute_slices) continue;
    if (found == nullptr || each.memory_slices < found->memory_slices) found = &each;
  }
  return found;
}

// Of GPUs with 7 or 4 compute slices; the first profile has all of them.
bool has_balanced(const Geometry& geometry) {
  const unsigned slices = geometry.profiles.front().compute_slices;
  return slices == 7 || slices == 4;
}

Configuration balanced(const Geometry& geometry) {
  Configuration made{.name = "all-balanced", .instances = {}};
  if (const Profile* three = plain(geometry, 3)) made.instances.push_back({three, 1});
  if (const Profile* two = plain(geometry, 2)) made.instances.push_back({two, 1});
  if (const Profile* one = plain(geometry, 1)) made.instances.push_back({one, 2});
  return made;
}

}  // namespace

std::int64_t Configuration::per_gpu(const Profile& profile) const {
  for (const InstanceCount& each : instances) {
    if (each.profile == &profile) return each.per_gpu;
  }
  return 0;
}

std::vector<Configuration> configurations(const Geometry& geometry) {
  std::vector<Configuration> all;
  for (const Profile& profile : geometry.profiles) {
    all.push_back({.name = label_value(profile), .instances = {{&profile, profile.max_instances}}});
  }
  if (has_balanced(geometry)) all.push_back(balanced(geometry));
  return all;
}

}  // namespace sched::gpu::mig
