#include "scheduler/engine/world/awaited_labels.h"

#include "scheduler/gpu/inventory.h"
#include "scheduler/gpu/labels.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sched {
namespace {

// With what is awaited from it.
std::int64_t gpus_offered(const NodeFacts& facts) {
  std::int64_t gpus = facts.gpu.gpus;
  if (!facts.health.awaited) return gpus;
  for (const ResourceAmount& each : facts.health.awaited->amounts) {
    if (each.resource == kNvidiaGpu) gpus = std::max(gpus, each.amount);
  }
  return gpus;
}

// Whether the labels may be older than what the node offers: it has more GPUs, pieces of shared
// ones or MIG instances than GPU feature discovery counts, or it has not counted them yet.
bool may_be_old(const NodeFacts& facts) {
  const gpu::Inventory& gpu = facts.gpu;
  if (gpu.gpu_count == 0 && gpu.piece != gpu::GpuPiece::kWholeGpu) return false;
  const bool denied = gpu::denies_sharing(facts.labels) || gpu::denies_sharing(facts.kept_labels);
  if (gpu.gpus <= saturating_multiply(gpu.gpu_count, denied ? 1 : gpu.replicas)) return false;
  return gpu::awaits_discovery(facts.labels) || gpu::states_sharing(facts.labels) ||
         gpu::states_sharing(facts.kept_labels);
}

}  // namespace

void AwaitedLabels::complete(NodeFacts& facts, const NodeFacts* before, Time now) {
  if (before == nullptr) return;
  const bool awaited = before->gpu.labels_awaited;
  if (!awaited && gpus_offered(*before) >= facts.gpu.gpus) return;
  if (!may_be_old(facts)) return node_gone(facts.name);
  gpu::await_labels(facts.gpu, facts.labels);
  if (awaited) return;
  until_.insert_or_assign(facts.name, now + kLabelsAwaited);
  ends_.emplace(now + kLabelsAwaited, facts.name);
}

void AwaitedLabels::node_gone(const std::string& node) {
  const auto found = until_.find(node);
  if (found == until_.end()) return;
  ends_.erase({found->second, node});
  until_.erase(found);
}

std::vector<std::string> AwaitedLabels::end(Time now) {
  std::vector<std::string> nodes;
  while (!ends_.empty() && ends_.begin()->first <= now) {
    nodes.push_back(std::move(ends_.extract(ends_.begin()).value().second));
    until_.erase(nodes.back());
  }
  return nodes;
}

std::optional<Time> AwaitedLabels::next_end() const {
  return ends_.empty() ? std::nullopt : std::optional(ends_.begin()->first);
}

NodeFacts without_awaited_labels(const NodeFacts& facts, const ResourceNames& names,
                                 const gpu::SiteLabels& site) {
  NodeFacts read = facts;
  read.gpu = inventory_of(read, names, site);
  return read;
}

}  // namespace sched
