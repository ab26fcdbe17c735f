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

std::string closed_because(const NodeFacts& facts) {
  const std::optional<GpusClosed> closed = closed_by(facts);
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
std::optional<GpuNode> gpu_node_at(const Nodes& nodes, const std::string& name, NodeSlot slot,
                                   const ResourceNames& names, bool with_tenants) {
  if (!nodes.present(slot)) return std::nullopt;
  const NodeFacts& facts = nodes.view(slot).facts;
  if (!facts.gpu.has_gpu() && !facts.health.labelled_gpus) return std::nullopt;
  GpuNode node{.node = name,
               .type = gpu_type(facts),
               .pieces = pieces_of(nodes, slot, names),
               .closed = closed_because(facts),
               .backed_off = facts.health.backoff.has_value(),
               .tenants = {}};
  find_tenants(nodes.occupants(slot), names, with_tenants, node);
  return node;
}

// What a reservation holds is not used.
void set_apart(const Claim& reserved, const ResourceNames& names, std::vector<GpuPieces>& pieces) {
  for (const auto& [resource, amount] : reserved.requests) {
    for (GpuPieces& one : pieces) {
      if (one.resource != names.name(resource)) continue;
      one.used -= amount;
      one.held += amount;
    }
  }
}

}  // namespace

std::optional<GpusClosed> closed_by(const NodeFacts& facts) {
  if (facts.unschedulable) return GpusClosed::kCordoned;
  if (facts.health.backoff) return GpusClosed::kBackedOff;
  if (taint_of_kubernetes(facts) != nullptr) return GpusClosed::kNotReady;
  if (facts.health.mig_change != gpu::MigChange::kNone) return GpusClosed::kMigChange;
  // Labelled, but no device plugin offers GPUs.
  if (!facts.gpu.has_gpu()) return GpusClosed::kNoneOffered;
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
  const gpu::Inventory& gpu = node.facts.gpu;
  node.facts.allocatable.for_each([&](ResourceId id, std::int64_t total) {
    const std::string& resource = names.name(id);
    GpuPieces pieces{
        .resource = resource, .profile = {}, .total = total, .used = node.requested(id)};
    switch (gpu::kind_of_resource(resource)) {
      case gpu::ResourceKind::kNoGpu:
        return;
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
      case gpu::ResourceKind::kInstance: {
        pieces.kind = GpuPieces::Kind::kInstance;
        for (const gpu::MigInstances& instances : gpu.instances) {
          if (instances.resource != id) continue;
          pieces.profile = instances.profile;
          if (instances.shared) pieces.kind = GpuPieces::Kind::kReplica;
        }
        break;
      }
    }
    all.push_back(std::move(pieces));
  });
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
    if (auto node = gpu_node_at(world_.nodes, name, slot, world_.names, with_tenants)) {
      nodes.push_back(*std::move(node));
    }
  }
  return nodes;
}

std::optional<GpuNode> Questions::gpu_node(const std::string& name) const {
  const NodeSlot slot = world_.nodes.find(name);
  if (slot == kNoSlot) return std::nullopt;
  return gpu_node_at(world_.nodes, name, slot, world_.names, true);
}

}  // namespace sched
