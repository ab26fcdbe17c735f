#include "scheduler/engine/repartition/trials.h"

#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/repartition/repartitioned.h"
#include "scheduler/engine/world/world_trial.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/health.h"
#include "scheduler/gpu/labels.h"
#include "scheduler/gpu/resource_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace sched {
namespace {

// On Ampere, MIG mode is switched by a reset of the GPU; later models need none.
bool needs_reset(const NodeFacts& node) {
  return node.gpu.product.geometry->model.starts_with("A") && node.gpu.whole_gpus() > 0;
}

// Whether the node will offer instances, because mig-manager has partitioned its GPUs, and offers
// nothing yet: the device plugin takes some time to start.
bool is_partitioned_and_offers_nothing(const NodeFacts& node) {
  if (node.gpu.has_gpu()) return false;
  const std::string_view name = gpu::label_of(node.labels, gpu::kMigConfigLabel);
  const auto all = gpu::mig::configurations(*node.gpu.product.geometry);
  return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
}

}  // namespace

bool asks_for_instances(const PodShape& shape) {
  if (shape.gpu.has_instances()) return true;
  return shape.request(kNvidiaGpu) > 0 && !shape.wishes.known_profiles.empty();
}

RepartitionTrials::RepartitionTrials(const World& world, const Finder& finder, const Holds& holds,
                                     const PrepareContext& context,
                                     std::vector<const WaitingPod*> pods)
    : world_(world),
      nodes_(world.nodes),
      finder_(finder),
      holds_(holds),
      context_(context),
      pods_(std::move(pods)) {
  for (const WaitingPod* pod : pods_) {
    const auto key = std::make_pair(pod->profile, pod->shape.id());
    if (shapes_.contains(key)) continue;
    shapes_.try_emplace(key, world.profiles[pod->profile], *pod->shape, context);
  }
  find_candidates();
}

void RepartitionTrials::find_candidates() {
  using Kind = std::tuple<const gpu::mig::Geometry*, std::int64_t, std::string>;
  std::map<Kind, std::size_t> idle;
  std::map<Kind, std::vector<std::pair<std::size_t, NodeSlot>>>
      busy;  // by number of pods that must end
  for (const auto& [name, slot] : nodes_.by_name()) {
    if (!nodes_.present(slot) || !can_be_repartitioned(nodes_.facts(slot))) continue;
    const gpu::Inventory& gpu = nodes_.facts(slot).gpu;
    const Kind kind{gpu.product.geometry, physical_gpus(nodes_.facts(slot)), gpu.mig_strategy};
    if (is_idle(nodes_.view(slot))) {
      if (candidates_.size() < kMostNodes && idle[kind]++ < kMostAlike) add(slot, 0);
      continue;
    }
    const auto& occupants = nodes_.occupants(slot);
    // A reservation there is for a pod that waits for this node.
    if (std::any_of(occupants.begin(), occupants.end(), [](const Occupant* each) {
          return each->kind == Occupant::Kind::kReservation;
        })) {
      continue;
    }
    const auto to_go = std::count_if(occupants.begin(), occupants.end(),
                                     [this](const Occupant* each) { return holds_gpus(*each); });
    busy[kind].emplace_back(static_cast<std::size_t>(to_go), slot);
  }
  const std::size_t most = candidates_.size() + kMostNodes;
  for (auto& [kind, alike] : busy) {
    std::stable_sort(alike.begin(), alike.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < alike.size() && i < kMostAlike; ++i) {
      if (candidates_.size() < most) add(alike[i].second, alike[i].first);
    }
  }
}

void RepartitionTrials::add(NodeSlot slot, std::size_t occupants) {
  const NodeFacts& node = nodes_.facts(slot);
  slots_.push_back(slot);
  candidates_.push_back(
      {.geometry = node.gpu.product.geometry,
       .gpus = physical_gpus(node),
       .configuration = std::string(gpu::label_of(node.labels, gpu::kMigConfigLabel)),
       .one_profile = node.gpu.mig_strategy == "single",
       .occupants = occupants});
}

bool RepartitionTrials::can_be_repartitioned(const NodeFacts& node) {
  const gpu::Inventory& gpu = node.gpu;
  if (gpu.product.geometry == nullptr) return false;
  if (gpu.mig_strategy != "mixed" && gpu.mig_strategy != "single") return false;
  if (gpu.sharing != gpu::Sharing::kNone || !gpu.instance_replicas.empty()) return false;
  if (is_partitioned_and_offers_nothing(node)) return false;
  constexpr auto kMostGpus = static_cast<std::int64_t>(gpu::kMaxDevices);
  const std::int64_t gpus = physical_gpus(node);
  return gpus > 0 && gpus <= kMostGpus && gpu.gpus <= gpu.gpu_count;
}

bool RepartitionTrials::is_idle(const NodeView& node) const {
  bool is_idle = true;
  node.usage.requested.for_each([&](ResourceId id, std::int64_t amount) {
    is_idle = is_idle && (amount <= 0 || !is_gpu(id));
  });
  return is_idle;
}

bool RepartitionTrials::holds_gpus(const Occupant& occupant) const {
  const auto& requests = occupant.claim.requests;
  return std::any_of(requests.begin(), requests.end(), [this](const ResourceAmount& request) {
    return request.amount > 0 && is_gpu(request.resource);
  });
}

bool RepartitionTrials::is_gpu(ResourceId id) const {
  return gpu::is_gpu_resource(context_.resources.name(id));
}

std::vector<std::string> RepartitionTrials::wanted() const {
  std::set<std::string> names;
  for (const WaitingPod* pod : pods_) {
    for (const ResourceAmount& request : pod->shape->requests) {
      const std::string& name = context_.resources.name(request.resource);
      if (name.starts_with(gpu::kMigResourcePrefix)) names.insert(name);
    }
    for (const std::string& profile : pod->shape->wishes.known_profiles) {
      names.insert(std::string(gpu::kMigResourcePrefix) + profile);
    }
  }
  return {names.begin(), names.end()};
}

NodeFacts RepartitionTrials::repartitioned_facts(std::size_t node,
                                                 const gpu::mig::Configuration& to) const {
  return repartitioned(facts(node), to, candidates_[node].gpus, context_.resources,
                       world_.options.site_labels);
}

quota::ChargeClass RepartitionTrials::charged_as(std::size_t node,
                                                 const gpu::mig::Configuration& to) const {
  // Under the strategy mixed an instance is charged by its own name.
  if (!candidates_[node].one_profile) return world_.ledger.classes()[facts(node).charge_class];
  return quota::charge_class_of(repartitioned_facts(node, to), context_.resources,
                                world_.options.site_labels)
      .first;
}

bool RepartitionTrials::quota_allows(const WaitingPod& pod, const quota::ChargeClass& on,
                                     const quota::LedgerTrial& in) const {
  if (pod.queue == kMainQueue) return true;
  return world_.ledger.answers().room_on(on, quota_of(pod), pod.demand, holds_.rank_of(pod), &in) !=
         quota::Room::kNone;
}

bool RepartitionTrials::must_not_be_passed(const WaitingPod& pod) const {
  return pod.queue != kMainQueue && world_.ledger.quotas().is_strict(quota_of(pod));
}

std::vector<std::size_t> RepartitionTrials::fits(
    std::size_t node, const gpu::mig::Configuration& to, const std::vector<std::size_t>& waiting,
    const std::vector<gpu::mig::Repartition>& before) const {
  const NodeSlot slot = slots_[node];
  WorldTrial trial(world_);
  const auto charge = [&](std::size_t index, const quota::ChargeClass& on) {
    const WaitingPod& pod = *pods_[index];
    trial.quota.add(pod.pod.metadata.namespace_, pod.demand, on);
  };
  for (const gpu::mig::Repartition& step : before) {
    const quota::ChargeClass on = charged_as(step.node, step.to);
    for (const std::size_t index : step.pods) charge(index, on);
  }
  for (const Occupant* occupant : nodes_.occupants(slot)) {
    if (!holds_gpus(*occupant)) continue;
    if (const PodRecord* pod = world_.pods.find(*occupant->uid)) trial.take_away(*pod);
  }
  trial.nodes.replace(slot, repartitioned_facts(node, to));
  const quota::ChargeClass on = charged_as(node, to);
  const auto takes = [&](const WaitingPod& pod) {
    const PreparedShape& shape = shapes_.at({pod.profile, pod.shape.id()});
    if (shape.rejection() || !quota_allows(pod, on, trial.quota)) return false;
    return finder_.verdict(shape, slot, {.trial = &trial.nodes}).is_ok();
  };
  std::vector<std::size_t> placed;
  std::set<QueueId> held_up;  // Strict quotas of which a pod was not placed
  for (const std::size_t index : waiting) {
    const WaitingPod& pod = *pods_[index];
    if (held_up.contains(pod.queue)) continue;
    if (!takes(pod)) {
      if (must_not_be_passed(pod)) held_up.insert(pod.queue);
      continue;
    }
    trial.nodes.add(slot, occupant_of(pod.pod, claim_of(*pod.shape), pod.pod_class, true),
                    &pod.pod);
    charge(index, on);
    placed.push_back(index);
  }
  return placed;
}

std::string RepartitionTrials::cost(std::size_t node) const {
  const NodeFacts& facts = nodes_.facts(slots_[node]);
  const std::size_t to_go = candidates_[node].occupants;
  std::string offers;
  facts.allocatable.for_each([&](ResourceId id, std::int64_t amount) {
    if (amount <= 0 || !is_gpu(id)) return;
    offers +=
        fmt::format("{}{} {}", offers.empty() ? "" : ", ", amount, context_.resources.name(id));
  });
  const std::string given_up = offers.empty() ? "nothing that is offered now"
                               : to_go == 0
                                   ? offers + " that no pod uses"
                                   : offers + fmt::format(", with {} pod(s) on them", to_go);
  return fmt::format("{}{}, and minutes in which the node offers no GPU", given_up,
                     needs_reset(facts) ? ", a reset of its GPUs" : "");
}

}  // namespace sched
