#include "scheduler/engine/questions/gpu_pieces.h"
#include "scheduler/engine/questions/questions.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace sched {
namespace {

constexpr std::string_view kNodeTaints = "node.kubernetes.io/";

// Kubernetes' own taints for nodes that are not fit for pods: not ready, unreachable, full.
const k8s::Taint* taint_of_kubernetes(const NodeFacts& facts) {
  for (const k8s::Taint& taint : facts.taints) {
    const bool keeps_out = taint.effect == k8s::TaintEffect::kNoSchedule ||
                           taint.effect == k8s::TaintEffect::kNoExecute;
    if (keeps_out && taint.key.starts_with(kNodeTaints)) return &taint;
  }
  return nullptr;
}

// Why some filter of each profile keeps pods with devices off, by the first profile; nullopt: one
// profile may place them there.
std::optional<std::string> unhealthy_by(const NodeFacts& facts,
                                        const std::vector<Profile>& profiles) {
  std::optional<std::string> why;
  for (const Profile& profile : profiles) {
    std::optional<std::string> one;
    for (const auto& filter : profile.filters) {
      if (!one) one = filter->keeps_devices_off(facts);
    }
    if (!one) return std::nullopt;
    if (!why) why = std::move(one);
  }
  return why;
}

std::string closed_because(const NodeFacts& facts, const std::vector<Profile>& profiles) {
  const std::optional<GpusClosed> closed = closed_by(facts, profiles);
  if (!closed) return {};
  switch (*closed) {
    case GpusClosed::kCordoned:
      return "cordoned";
    case GpusClosed::kBackedOff:
      return "backed off: its kubelet rejected " + std::to_string(facts.health.backoff->rejected) +
             " pods, " + facts.health.backoff->reason;
    case GpusClosed::kNotReady:
      return taint_of_kubernetes(facts)->key.substr(kNodeTaints.size());
    case GpusClosed::kMigChange:
      return "MIG configuration " + std::string(to_string(facts.health.mig_change));
    case GpusClosed::kUnhealthy:
      return "unhealthy: " + unhealthy_by(facts, profiles).value_or("");
    case GpusClosed::kNoneOffered:
      break;
  }
  return "offers no GPU";
}

void find_tenants(const std::vector<const Occupant*>& occupants, const ResourceNames& names,
                  bool with_uids, GpuNode& node) {
  for (const Occupant* occupant : occupants) {
    if (occupant->kind != Occupant::Kind::kPod) continue;
    const std::int64_t pieces = gpu_pieces(occupant->claim.requests, names);
    if (pieces == 0) continue;
    ++node.pods;
    if (with_uids) node.tenants.push_back({*occupant->uid, pieces});
  }
  std::stable_sort(node.tenants.begin(), node.tenants.end(),
                   [](const GpuTenant& a, const GpuTenant& b) { return a.pieces > b.pieces; });
}

// nullopt: the node is gone, or has no GPUs.
std::optional<GpuNode> gpu_node_at(const World& world, const std::string& name, NodeSlot slot,
                                   bool with_tenants) {
  if (!world.nodes.present(slot)) return std::nullopt;
  const NodeFacts& facts = world.nodes.facts(slot);
  if (!is_gpu_node(facts)) return std::nullopt;
  GpuNode node{.node = name,
               .type = gpu_type(facts),
               .pieces = pieces_of(world.nodes, slot, world.names),
               .closed = closed_because(facts, world.profiles),
               .backed_off = facts.health.backoff.has_value(),
               .tenants = {}};
  find_tenants(world.nodes.occupants(slot), world.names, with_tenants, node);
  return node;
}

// What a reservation holds is not used; and of what it asks for, only what no pod has is held yet.
void set_apart(const Claim& reserved, const ResourceNames& names, std::vector<GpuPieces>& pieces) {
  for (const auto& [resource, amount] : reserved.requests) {
    for (GpuPieces& one : pieces) {
      if (one.resource != names.name(resource)) continue;
      one.used -= amount;
      one.held = std::min(one.held + amount, std::max<std::int64_t>(one.total - one.used, 0));
    }
  }
}

// The form of what the node counts under that name; nullopt: no GPU.
std::optional<GpuPieces> pieces_named(const std::string& resource, ResourceId id,
                                      const gpu::Inventory& gpu) {
  GpuPieces pieces{.resource = resource, .profile = {}};
  switch (gpu::kind_of_resource(resource)) {
    case gpu::ResourceKind::kNoGpu:
      return std::nullopt;
    case gpu::ResourceKind::kOwnName:
      break;
    case gpu::ResourceKind::kGpu:
      pieces.profile = gpu.single_profile;
      if (gpu.piece == gpu::GpuPiece::kMigInstance) pieces.kind = GpuPieces::Kind::kInstance;
      if (gpu.piece == gpu::GpuPiece::kReplica) pieces.kind = GpuPieces::Kind::kReplica;
      break;
    case gpu::ResourceKind::kShared:
      pieces.kind = GpuPieces::Kind::kReplica;
      break;
    case gpu::ResourceKind::kInstance:
      pieces.kind = GpuPieces::Kind::kInstance;
      for (const gpu::MigInstances& instances : gpu.instances) {
        if (instances.resource != id) continue;
        pieces.profile = instances.profile;
        if (instances.shared) pieces.kind = GpuPieces::Kind::kReplica;
      }
      break;
  }
  return pieces;
}

}  // namespace

bool is_gpu_node(const NodeFacts& facts) {
  return facts.gpu.has_gpu() || facts.health.labelled_gpus;
}

std::optional<GpusClosed> closed_by(const NodeFacts& facts, const std::vector<Profile>& profiles) {
  if (facts.unschedulable) return GpusClosed::kCordoned;
  if (facts.health.backoff) return GpusClosed::kBackedOff;
  if (taint_of_kubernetes(facts) != nullptr) return GpusClosed::kNotReady;
  if (facts.health.mig_change != gpu::MigChange::kNone) return GpusClosed::kMigChange;
  // Labelled, but no device plugin offers GPUs.
  if (!facts.gpu.has_gpu()) return GpusClosed::kNoneOffered;
  if (unhealthy_by(facts, profiles)) return GpusClosed::kUnhealthy;
  return std::nullopt;
}

std::string GpuPieces::form() const {
  const std::string instance = profile.empty() ? "" : "mig-" + profile;
  if (kind != Kind::kReplica) return instance;
  return instance.empty() ? "shared" : instance + ".shared";
}

std::string gpu_type(const NodeFacts& facts) {
  const gpu::Product& product = facts.gpu.product;
  if (product.gpu_class == nullptr || product.is_part) return product.name;
  std::string type(product.class_name());
  if (product.memory_gb > 0) type += "-" + std::to_string(product.memory_gb) + "GB";
  return type;
}

std::int64_t gpu_pieces(const std::vector<ResourceAmount>& requests, const ResourceNames& names) {
  std::int64_t pieces = 0;
  for (const auto& [resource, amount] : requests) {
    if (gpu::is_gpu_resource(names.name(resource))) pieces = saturating_add(pieces, amount);
  }
  return pieces;
}

std::vector<GpuPieces> pieces_of(const Nodes& nodes, NodeSlot slot, const ResourceNames& names) {
  const NodeView node = nodes.view(slot);
  std::vector<GpuPieces> all;
  const auto add = [&](ResourceId id, std::int64_t total) {
    auto pieces = pieces_named(names.name(id), id, node.facts.gpu);
    if (!pieces) return;
    pieces->total = total;
    pieces->used = node.requested(id);
    all.push_back(*std::move(pieces));
  };
  node.facts.allocatable.for_each(add);
  // Pods keep their GPUs while the device plugin is gone. An amount of zero under this name is
  // no entry of `allocatable`.
  const auto gpu = names.find(gpu::kGpuResource);
  if (gpu && node.allocatable(*gpu) == 0 && node.requested(*gpu) > 0) add(*gpu, 0);
  std::sort(all.begin(), all.end(),
            [](const GpuPieces& a, const GpuPieces& b) { return a.resource < b.resource; });
  for (const Occupant* occupant : nodes.occupants(slot)) {
    if (occupant->kind == Occupant::Kind::kReservation) set_apart(occupant->claim, names, all);
  }
  return all;
}

std::vector<GpuNode> Questions::gpu_nodes(bool with_tenants) const {
  std::vector<GpuNode> nodes;
  for (const auto& [name, slot] : world_.nodes.by_name()) {
    if (auto node = gpu_node_at(world_, name, slot, with_tenants)) {
      nodes.push_back(*std::move(node));
    }
  }
  return nodes;
}

std::optional<GpuNode> Questions::gpu_node(const std::string& name) const {
  const NodeSlot slot = world_.nodes.find(name);
  if (slot == kNoSlot) return std::nullopt;
  return gpu_node_at(world_, name, slot, true);
}

}  // namespace sched
