#include "scheduler/engine/world/awaited_devices.h"

#include "scheduler/gpu/resource_kind.h"

namespace sched {
namespace {

// What the node offers of GPUs, with what is awaited from it.
Resources gpus_of(const NodeFacts& facts, const ResourceNames& names) {
  Resources gpus;
  facts.allocatable.for_each([&](ResourceId id, std::int64_t amount) {
    if (amount > 0 && gpu::is_gpu_resource(names.name(id))) gpus.set(id, amount);
  });
  if (facts.health.awaited) gpus.add(facts.health.awaited->amounts);
  return gpus;
}

}  // namespace

void AwaitedDevices::complete(NodeFacts& facts, const NodeFacts* before, const ResourceNames& names,
                              Time now) {
  if (before == nullptr) return;
  const auto& awaited = before->health.awaited;
  if (!awaited && before->allocatable == facts.allocatable) return;
  if (awaited) ends_.erase({awaited->until, facts.name});
  if (!facts.health.labelled_gpus || facts.health.mig_change != gpu::MigChange::kNone) return;
  if (facts.gpu.product.name != before->gpu.product.name) return;
  const Resources was = gpus_of(*before, names);
  gpu::AwaitedDevices missing{.until = awaited ? awaited->until : now + kDevicesAwaited,
                              .amounts = {}};
  was.for_each([&](ResourceId id, std::int64_t amount) {
    if (facts.allocatable.get(id) <= 0) missing.amounts.push_back({id, amount});
  });
  bool offers_others = false;
  gpus_of(facts, names).for_each([&](ResourceId id, std::int64_t /*amount*/) {
    offers_others = offers_others || was.get(id) == 0;
  });
  if (missing.amounts.empty() || offers_others) return;
  ends_.emplace(missing.until, facts.name);
  facts.health.awaited = std::move(missing);
}

void AwaitedDevices::node_gone(const NodeFacts& facts) {
  if (facts.health.awaited) ends_.erase({facts.health.awaited->until, facts.name});
}

std::vector<std::string> AwaitedDevices::end(Time now) {
  std::vector<std::string> nodes;
  while (!ends_.empty() && ends_.begin()->first <= now) {
    nodes.push_back(std::move(ends_.extract(ends_.begin()).value().second));
  }
  return nodes;
}

std::optional<Time> AwaitedDevices::next_end() const {
  return ends_.empty() ? std::nullopt : std::optional(ends_.begin()->first);
}

NodeFacts with_awaited(const NodeFacts& facts, const ResourceNames& names,
                       const gpu::SiteLabels& site) {
  NodeFacts back = facts;
  if (!back.health.awaited) return back;
  for (const ResourceAmount& each : back.health.awaited->amounts) {
    back.allocatable.set(each.resource, each.amount);
  }
  back.health.awaited.reset();
  back.gpu = inventory_of(back, names, site);
  if (facts.gpu.labels_awaited) gpu::await_labels(back.gpu, back.labels);
  return back;
}

}  // namespace sched
