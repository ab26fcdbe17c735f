#include "scheduler/engine/repartition/trials.h"

#include "scheduler/cluster/claim.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace sched {
namespace {

constexpr std::string_view kNvidia = "nvidia.com/";
constexpr std::string_view kCountLabel = "nvidia.com/gpu.count";
constexpr std::string_view kStrategyLabel = "nvidia.com/mig.strategy";

std::string label_of(const NodeFacts& node, std::string_view key) {
  const std::string* found = node.labels.find(key);
  return found == nullptr ? "" : *found;
}

// Physical GPUs, by the label; 0: it does not say, or nothing sensible.
std::int64_t gpus_of(const NodeFacts& node) {
  const std::string text = label_of(node, kCountLabel);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool sensible = error == std::errc() && end == text.data() + text.size() && count > 0 &&
                        count <= static_cast<std::int64_t>(gpu::kMaxDevices);
  return sensible ? count : 0;
}

// On Ampere, MIG mode is switched by a reset of the GPU; later models need none.
bool needs_reset(const NodeFacts& node) {
  return node.gpu.product.geometry->model.starts_with("A") && node.allocatable.get(kNvidiaGpu) > 0;
}

}  // namespace

RepartitionTrials::RepartitionTrials(const Nodes& nodes, const std::vector<Profile>& profiles,
                                     const PrepareContext& context,
                                     std::vector<const WaitingPod*> pods)
    : nodes_(nodes), context_(context), pods_(std::move(pods)) {
  for (std::size_t i = 0; i < context.resources.size(); ++i) {
    const auto id = static_cast<ResourceId>(i);
    if (context.resources.name(id).starts_with(kNvidia)) nvidias_.push_back(id);
  }
  for (const WaitingPod* pod : pods_) {
    const auto key = std::make_pair(pod->profile, pod->shape.id());
    if (shapes_.contains(key)) continue;
    shapes_.try_emplace(key, profiles[pod->profile], *pod->shape, context);
  }
  find_idle_nodes();
}

void RepartitionTrials::find_idle_nodes() {
  std::map<std::pair<const gpu::mig::Geometry*, std::int64_t>, std::size_t> alike;
  for (const auto& [name, slot] : nodes_.by_name()) {
    if (idle_.size() == kMostNodes) return;
    if (!nodes_.present(slot) || !is_idle(nodes_.view(slot))) continue;
    const NodeFacts& node = nodes_.facts(slot);
    const std::int64_t gpus = gpus_of(node);
    if (alike[{node.gpu.product.geometry, gpus}]++ >= kMostAlike) continue;
    slots_.push_back(slot);
    idle_.push_back({.geometry = node.gpu.product.geometry,
                     .gpus = gpus,
                     .configuration = label_of(node, gpu::kMigConfigLabel)});
  }
}

bool RepartitionTrials::is_idle(const NodeView& node) const {
  const NodeFacts& facts = node.facts;
  if (facts.gpu.product.geometry == nullptr || label_of(facts, kStrategyLabel) != "mixed")
    return false;
  const std::int64_t gpus = gpus_of(facts);
  if (gpus == 0 || facts.allocatable.get(kNvidiaGpu) > gpus) return false;
  return std::all_of(nvidias_.begin(), nvidias_.end(),
                     [&](ResourceId id) { return node.requested(id) <= 0; });
}

std::vector<std::string> RepartitionTrials::wanted() const {
  std::set<std::string> names;
  for (const WaitingPod* pod : pods_) {
    for (const ResourceAmount& request : pod->shape->requests) {
      const std::string& name = context_.resources.name(request.resource);
      if (name.starts_with(gpu::kMigResourcePrefix)) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

NodeFacts RepartitionTrials::cut(std::size_t node, const gpu::mig::Configuration& to) const {
  NodeFacts facts = nodes_.facts(slots_[node]);
  for (const ResourceId id : nvidias_) facts.allocatable.set(id, 0);
  for (const gpu::mig::InstanceCount& each : to.instances) {
    // A name that nobody has used yet is one that no pod asks for.
    if (const auto id = context_.resources.find(gpu::mig::resource_of(*each.profile))) {
      facts.allocatable.set(*id, each.per_gpu * idle_[node].gpus);
    }
  }
  return facts;
}

std::vector<std::size_t> RepartitionTrials::fits(std::size_t node,
                                                 const gpu::mig::Configuration& to,
                                                 const std::vector<std::size_t>& waiting) const {
  const NodeFacts facts = cut(node, to);
  NodeUsage usage = nodes_.usage(slots_[node]);
  std::vector<std::size_t> placed;
  for (const std::size_t index : waiting) {
    const WaitingPod& pod = *pods_[index];
    const PreparedShape& shape = shapes_.at({pod.profile, pod.shape.id()});
    if (shape.rejection() || !shape.check({facts, usage}).is_ok()) continue;
    add_claim(usage, claim_of(*pod.shape));
    placed.push_back(index);
  }
  return placed;
}

std::string RepartitionTrials::cost(std::size_t node) const {
  const NodeFacts& facts = nodes_.facts(slots_[node]);
  std::string offers;
  for (const ResourceId id : nvidias_) {
    const std::int64_t amount = facts.allocatable.get(id);
    if (amount <= 0) continue;
    offers +=
        fmt::format("{}{} {}", offers.empty() ? "" : ", ", amount, context_.resources.name(id));
  }
  return fmt::format("{}{}, and minutes in which the node offers no GPU",
                     offers.empty() ? "nothing that is offered now" : offers + " that nobody uses",
                     needs_reset(facts) ? ", a reset of its GPUs" : "");
}

}  // namespace sched
