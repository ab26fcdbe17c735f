#include "scheduler/cluster/fragmentation.h"
#include "scheduler/engine/questions/gpu_pieces.h"
#include "scheduler/engine/questions/questions.h"
#include "scheduler/quota/type_choice.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {
namespace {

void add(GpuTotals::Form& form, const GpuPieces& pieces, std::optional<GpusClosed> closed) {
  form.used += pieces.used;
  form.held += pieces.held;
  if (closed) {
    if (pieces.free() > 0) form.closed[*closed] += pieces.free();
    return;
  }
  form.free += pieces.free();
  form.largest_block = std::max(form.largest_block, pieces.free());
  if (pieces.used == 0 && pieces.held == 0) ++form.whole_nodes_free;
}

// The same names as asked_type(), so that what is free can be compared with what is asked for.
std::string type_of(const gpu::Product& product) {
  return product.gpu_class == nullptr || product.is_part ? product.name
                                                         : std::string(product.gpu_class->name);
}

// A pod may name any text as a type: only known classes have a name here.
std::string asked_type(const PodShape& shape) {
  const quota::TypeChoice choice = quota::choice_of(shape, true);
  const auto types = quota::named_types(choice);
  if (types.empty()) {
    const bool says_nothing = choice.required.empty() && choice.alternatives.empty();
    return says_nothing ? "any" : "other";
  }
  const gpu::GpuClass* const one = types.front().gpu_class;
  const bool all_of_it = std::all_of(types.begin(), types.end(), [&](const auto& type) {
    return type.gpu_class == one && type.mig_profile.empty();
  });
  return one != nullptr && all_of_it ? std::string(one->name) : "other";
}

GpuTotals::Queue queue_of(QueuePlace place) {
  switch (place) {
    case QueuePlace::kBackoff:
      return GpuTotals::Queue::kBackoff;
    case QueuePlace::kParked:
    case QueuePlace::kRefused:
      return GpuTotals::Queue::kUnschedulable;
    case QueuePlace::kGated:
      return GpuTotals::Queue::kGated;
    case QueuePlace::kNone:
    case QueuePlace::kActive:
      break;
  }
  return GpuTotals::Queue::kActive;
}

// Whether it is a group of which pods are missing.
bool lacks_pods(const Entity& entity) {
  if (!entity.is_group) return false;
  const auto& group = static_cast<const WaitingGroup&>(entity);
  return group.members.size() < group.min_count;
}

GpuTotals::Reason reason_of(const Entity& entity, const Queues& queue) {
  using Reason = GpuTotals::Reason;
  switch (entity.place) {
    case QueuePlace::kNone:
    case QueuePlace::kActive:
      return Reason::kTurn;
    case QueuePlace::kBackoff:
      return Reason::kBackoff;
    case QueuePlace::kGated:
      return Reason::kGates;
    case QueuePlace::kRefused:
      if (lacks_pods(entity)) return Reason::kGroup;
      return entity.never ? Reason::kNever : Reason::kRules;
    case QueuePlace::kParked:
      break;
  }
  const WaitsFor waits_for = queue.waits_for(entity);
  if ((waits_for & kWaitsForChange) != 0) return Reason::kQuotaChange;
  if ((waits_for & kWaitsForQuota) != 0) return Reason::kQuota;
  if (waits_for == kWaitsForTurn) return Reason::kTurn;
  if (entity.never) return Reason::kNever;
  if ((waits_for & kWaitsForOthers) != 0) return Reason::kRules;
  return (waits_for & (kWaitsForNodes | kWaitsForFacts)) != 0 ? Reason::kNode : Reason::kTurn;
}

// Free GPU of the nodes, by cause.
class FreeByCauses {
 public:
  explicit FreeByCauses(const ClusterContext& workload) : fragmentation_(typical_pods(workload)) {}

  void add(const std::string& type, const NodeView& node, std::int64_t free_gpus) {
    const std::size_t product = fragmentation_.product_id(node.facts.gpu.product.name);
    const FreeByCause more = fragmentation_.free_by_cause(
        product, std::max<std::int64_t>(node.free(kCpu), 0), std::min(free_gpus, kMostGpus));
    FreeByCause& sum = sums_[type];
    for (std::size_t cause = 0; cause < sum.size(); ++cause) sum[cause] += more[cause];
  }

  [[nodiscard]] std::map<std::string, std::array<double, kFreeGpuCauses>> in_gpus() const {
    std::map<std::string, std::array<double, kFreeGpuCauses>> all;
    const double gpu = 1'000.0 * static_cast<double>(fragmentation_.weight());
    for (const auto& [type, sum] : sums_) {
      for (std::size_t cause = 0; cause < sum.size(); ++cause) {
        all[type][cause] = static_cast<double>(sum[cause]) / gpu;
      }
    }
    return all;
  }

 private:
  static std::span<const TypicalPod> typical_pods(const ClusterContext& workload) {
    const std::span<const TypicalPod> typical = covering(workload.pods);
    return typical.first(std::min(kMostKinds, typical.size()));
  }

  static constexpr std::size_t kMostKinds = 200;    // of pods, for the cost
  static constexpr std::int64_t kMostGpus = 1'024;  // of a node, so that no sum overflows
  Fragmentation fragmentation_;
  std::map<std::string, FreeByCause> sums_;
};

// Keeps the namespaces with the most, and the sum of the others.
void keep_most(std::map<std::string, std::int64_t> all, GpuTotals& totals) {
  std::vector<std::pair<std::int64_t, std::string>> by_gpus;
  for (auto& [name, gpus] : all) by_gpus.emplace_back(-gpus, name);
  std::sort(by_gpus.begin(), by_gpus.end());
  for (const auto& [negated, name] : by_gpus) {
    if (totals.namespaces.size() < GpuTotals::kMostNamespaces) {
      totals.namespaces.emplace(name, -negated);
    } else {
      totals.other_namespaces -= negated;
    }
  }
}

}  // namespace

GpuTotals Questions::gpu_totals() const {
  GpuTotals totals;
  std::map<std::pair<std::string, std::string>, GpuTotals::Form> forms;
  std::unordered_map<std::string_view, std::int64_t> namespaces;
  FreeByCauses free(*world_.statistics.last());
  std::vector<std::optional<bool>> of_gpus(world_.names.end_of_ids());  // by resource
  const auto is_gpu = [&](ResourceId id) {
    std::optional<bool>& its = of_gpus[static_cast<std::size_t>(id)];
    if (!its) its = gpu::is_gpu_resource(world_.names.name(id));
    return *its;
  };
  for (NodeSlot slot = 0; slot < world_.nodes.slots(); ++slot) {
    if (!world_.nodes.present(slot)) continue;
    const NodeView view = world_.nodes.view(slot);
    if (!is_gpu_node(view.facts)) continue;
    const std::optional<GpusClosed> closed = closed_by(view.facts, world_.profiles);
    const std::string type = type_of(view.facts.gpu.product);
    for (const GpuPieces& pieces : pieces_of(world_.nodes, slot, world_.names)) {
      add(forms[{type, pieces.form()}], pieces, closed);
      const bool counts = !closed && pieces.kind == GpuPieces::Kind::kWhole;
      if (counts && pieces.free() > 0) free.add(type, view, pieces.free());
    }
    for (const Occupant* occupant : world_.nodes.occupants(slot)) {
      if (occupant->kind != Occupant::Kind::kPod || occupant->pod_class.none()) continue;
      std::int64_t pieces = 0;
      for (const auto& [resource, amount] : occupant->claim.requests) {
        if (is_gpu(resource)) pieces = saturating_add(pieces, amount);
      }
      if (pieces > 0) namespaces[(*occupant->pod_class).namespace_] += pieces;
    }
  }
  totals.free_by_cause = free.in_gpus();
  keep_most({namespaces.begin(), namespaces.end()}, totals);
  for (auto& [name, form] : forms) {
    std::tie(form.type, form.form) = name;
    totals.forms.push_back(std::move(form));
  }

  struct Asks {
    std::int64_t gpus = 0;
    std::string type;
  };
  std::unordered_map<ShapeId, Asks> shapes;
  for (const Entity* entity : queue_.entities()) {
    const GpuTotals::Queue waits_in = queue_of(entity->place);
    const GpuTotals::Reason reason = reason_of(*entity, queue_);
    for_each_pod(*entity, [&](const WaitingPod& pod) {
      const auto [asks, is_new] = shapes.try_emplace(pod.shape.id());
      if (is_new) {
        asks->second.gpus = gpu_pieces(pod.shape->requests, world_.names);
        asks->second.type = asks->second.gpus == 0 ? "none" : asked_type(*pod.shape);
      }
      const GpuTotals::WaitsIn key{waits_in, reason, asks->second.type};
      const auto [known, is_first] = totals.waiting.try_emplace(key);
      GpuTotals::Waiting& waiting = known->second;
      waiting.oldest = is_first ? pod.waits_since : std::min(waiting.oldest, pod.waits_since);
      ++waiting.pods;
      waiting.gpus = saturating_add(waiting.gpus, asks->second.gpus);
    });
  }

  queue_.for_each_quota([&](QueueId id, const EntityQueue& queue) {
    const std::string& name = world_.ledger.name_of(quota::QuotaId{id});
    if (name.empty()) return;  // of pods that no quota counts
    GpuTotals::Quota& quota = totals.quotas[name];
    if (const Entity* first = queue.line().first()) quota.since = first->waits_since;
  });
  holds_.for_each([&](QueueId id, const Hold&) {
    ++totals.quotas[world_.ledger.name_of(quota::QuotaId{id})].holds;
  });
  return totals;
}

}  // namespace sched
