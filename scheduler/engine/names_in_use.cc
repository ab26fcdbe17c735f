#include "scheduler/engine/names_in_use.h"

#include <cstddef>
#include <vector>

namespace sched {
namespace {

std::vector<bool> names_in_use(const World& world, const Queues& queue) {
  std::vector<bool> in_use(world.names.end_of_ids());
  const auto mark = [&](ResourceId id) { in_use[static_cast<std::size_t>(id)] = true; };
  for (const ResourceId id : {kCpu, kMemory, kEphemeralStorage, kPods, kNvidiaGpu}) mark(id);
  for (NodeSlot slot = 0; slot < world.nodes.slots(); ++slot) {
    world.nodes.facts(slot).allocatable.for_each(
        [&](ResourceId id, std::int64_t /*amount*/) { mark(id); });
    if (const auto& awaited = world.nodes.facts(slot).health.awaited) {
      for (const ResourceAmount& each : awaited->amounts) mark(each.resource);
    }
    for (const Occupant* occupant : world.nodes.occupants(slot)) {
      for (const ResourceAmount& taken : occupant->claim.requests) mark(taken.resource);
    }
  }
  for (const Entity* entity : queue.entities()) {
    for_each_pod(*entity, [&](const WaitingPod& pod) {
      for (const ResourceAmount& asked : pod.shape->requests) mark(asked.resource);
    });
  }
  return in_use;
}

}  // namespace

void forget_unused_names(World& world, const Queues& queue) {
  const std::size_t news = world.names.news();
  if (news < kFewNames || 2 * news < world.names.size() ||
      news < world.nodes.slots() + world.pods.size()) {
    return;
  }
  world.templates.clear();
  const std::vector<bool> in_use = names_in_use(world, queue);
  world.shapes.put_aside_unless(in_use);
  world.names.keep_only(in_use);
}

}  // namespace sched
