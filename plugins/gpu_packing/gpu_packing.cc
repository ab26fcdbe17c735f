// GpuPacking: keeps free GPUs where pods can use them, and pods without GPU off GPU nodes. The GPU
// score of the default profile.
//
// A job that needs eight GPUs of one node finds them only if smaller pods are not spread over all
// nodes, and no pod can use a GPU on a node without free CPU. By what a pod asks for:
//
//  * whole GPUs, or a share in a replay: UsableGpu (plugins/usable_gpu) with its default arguments:
//    the node where the pod destroys least of what the typical pods of this cluster could use. A
//    node on which nvidia.com/gpu are not whole GPUs is as good as one where nothing is destroyed
//    beyond what is taken, whatever CPU is left there. Of several such nodes, GpuSharing decides
//    which shared one is taken, and whether a shared one at all; of those where they are MIG
//    instances (the strategy `single`) it is the one that would be most taken with the pod;
//  * the same before any typical pods are known: the node with pieces of these kinds that would be
//    most taken with the pod (with several kinds, by their mean);
//  * MIG instances, also beside GPUs: the node where what stays free is worth least; large profiles
//    and whole GPUs weigh most (instances.h);
//  * no GPU: nodes without any, because GPU pods do not need their CPU and memory. They are ahead
//    of every node with GPU by 100; among nodes with GPU, UsableGpu decides. A node with labels
//    that name GPUs counts as one with GPU even if it offers none (its device plugin restarts, or
//    has not started yet), and so does a node that offers other vendors' devices, or NVIDIA's
//    under other resource names.
//
// On a live cluster GPUs are counts: kubelet chooses which GPU of a node a pod gets.
//
// Arguments (GpuPackingArgs); what each alone and all together achieve: bench/replay/README.md,
// "Parts of GpuPacking". Those that are off cost more than they save on most traces.
//   podsWithoutGpuApart: true   pods without GPU onto nodes without
//   packPieces: true            MIG instances by what stays free, and GPUs of an unknown workload
//                               and nvidia.com/gpu that are instances by how full the node would
//                               be; false: such pods are not scored, such nodes are equal
//   keepWholeNodes: 0           milli-GPU: a node on which no GPU is taken yet counts as if the pod
//                               destroyed that much more there
//   conserveCpu: 8              as UsableGpu's: keeps free CPU together where it is scarce
//   modelPrices: true           as UsableGpu's: pods leave models alone that others can run on only
//   cheapTypesFirst: []         GPU types from cheap to expensive: a pod that names no GPU type
//                               goes to the earliest listed type; each step costs as much as
//                               destroying twice what the pod takes; types that are not listed come
//                               last
#include "plugins/factories.h"
#include "plugins/gpu_packing/args.h"
#include "plugins/gpu_packing/instances.h"
#include "plugins/gpu_packing/surcharge.h"
#include "plugins/support/gpu_ask.h"
#include "plugins/support/share.h"
#include "plugins/usable_gpu/scoring.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/resource_kind.h"

#include <algorithm>
#include <utility>

namespace plugins {

namespace {

using namespace sched;

// The mean share of the requested kinds that would be taken with the pod; 0 on shared GPUs.
class Packed final : public NodeScore {
 public:
  explicit Packed(std::vector<ResourceAmount> asked) : asked_(std::move(asked)) {}

  std::int64_t score(const NodeView& node) const override {
    std::int64_t sum = 0;
    std::int64_t kinds = 0;
    for (const auto& [resource, amount] : asked_) {
      const std::int64_t capacity = node.allocatable(resource);
      if (capacity <= 0 || node.facts.gpu.sharing != gpu::Sharing::kNone) continue;
      sum += percentage(
          std::clamp<std::int64_t>(saturating_add(node.requested(resource), amount), 0, capacity),
          capacity);
      ++kinds;
    }
    return kinds == 0 ? 0 : sum / kinds;
  }

 private:
  std::vector<ResourceAmount> asked_;
};

// UsableGpu on nodes with whole GPUs; on other nodes the pod takes and destroys no whole GPU.
class OnWholeGpus final : public NodeScore {
 public:
  // `instances` is added where nvidia.com/gpu are MIG instances; null: these nodes are equal.
  OnWholeGpus(std::unique_ptr<NodeScore> usable, std::int64_t neutral,
              std::unique_ptr<NodeScore> instances)
      : usable_(std::move(usable)), neutral_(neutral), instances_(std::move(instances)) {}

  std::int64_t score(const NodeView& node) const override {
    const gpu::GpuPiece piece = node.facts.gpu.piece;
    if (piece == gpu::GpuPiece::kWholeGpu) return usable_->score(node);
    if (piece == gpu::GpuPiece::kMigInstance && instances_) {
      return neutral_ + instances_->score(node);
    }
    return neutral_;
  }
  std::optional<gpu::DeviceShare> choose_device(const NodeView& node) const override {
    return usable_->choose_device(node);
  }

 private:
  std::unique_ptr<NodeScore> usable_;
  std::int64_t neutral_;
  std::unique_ptr<NodeScore> instances_;
};

// Nodes without GPUs first, then those with GPUs that lose least by the CPU that the pod takes.
class Apart final : public NodeScore {
 public:
  // `on_gpu_nodes` may be null: then GPU nodes are equal. Its scores are at most `neutral`, because
  // a pod without GPU destroys something or nothing.
  Apart(std::unique_ptr<NodeScore> on_gpu_nodes, std::int64_t neutral)
      : on_gpu_nodes_(std::move(on_gpu_nodes)), neutral_(neutral) {}

  std::int64_t score(const NodeView& node) const override {
    if (!node.facts.gpu.is_gpu_node()) return neutral_ + kMaxScore;
    return on_gpu_nodes_ ? on_gpu_nodes_->score(node) : neutral_;
  }

 private:
  std::unique_ptr<NodeScore> on_gpu_nodes_;
  std::int64_t neutral_;
};

// What the pod asks for of each kind of GPU.
std::vector<ResourceAmount> kinds_of_gpu(const PodShape& shape, const ResourceNames& names,
                                         bool shares) {
  std::vector<ResourceAmount> kinds;
  for (const ResourceAmount& request : shape.requests) {
    const std::string& name = names.name(request.resource);
    if (gpu::is_gpu_resource(name) || (shares && name == gpu::kMilliResource))
      kinds.push_back(request);
  }
  return kinds;
}

class GpuPacking final : public ScorePlugin {
 public:
  explicit GpuPacking(GpuPackingArgs args)
      : args_(std::move(args)),
        usable_(core_of(args_)),
        surcharge_(args_, UsableGpuArgs{}.quantum) {}

  std::string_view name() const override { return "GpuPacking"; }
  std::int64_t max_score() const override { return usable_.max_score() + surcharge_.most(); }
  bool reads_statistics() const override { return true; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    const GpuAsk ask = gpu_ask_of(shape, context);
    const std::vector<ResourceAmount> kinds =
        kinds_of_gpu(shape, context.resources, ask.is_share());
    const bool measured = ask.gpus > 0 && kinds.size() == 1;
    auto usable = measured || kinds.empty() ? usable_.prepare(ask, context.cluster) : nullptr;
    const std::int64_t neutral = usable ? usable_.neutral() : 0;
    if (kinds.empty()) {
      if (!args_.pods_without_gpu_apart) return usable;
      return std::make_unique<Apart>(std::move(usable), neutral);
    }
    std::unique_ptr<NodeScore> score;
    if (usable) {
      score = std::make_unique<OnWholeGpus>(
          std::move(usable), neutral,
          args_.pack_pieces ? std::make_unique<Packed>(kinds) : nullptr);
    } else if (args_.pack_pieces && !asks_for_shared(kinds, context.resources)) {
      const bool counted = shape.gpu.has_instances() && !context.cluster->devices_apart;
      score = counted ? make_instance_score(kinds) : std::make_unique<Packed>(kinds);
    }
    return surcharge_.on_top_of(std::move(score), shape, ask);
  }

 private:
  static UsableGpuArgs core_of(const GpuPackingArgs& args) {
    UsableGpuArgs core;
    core.conserve_cpu = args.conserve_cpu;
    core.weights.model_prices = args.model_prices;
    return core;
  }
  // GpuSharing packs or spreads these pods.
  static bool asks_for_shared(const std::vector<ResourceAmount>& kinds,
                              const ResourceNames& names) {
    return std::any_of(kinds.begin(), kinds.end(), [&](const ResourceAmount& kind) {
      return names.name(kind.resource).ends_with(".shared");
    });
  }

  GpuPackingArgs args_;
  UsableGpuScoring usable_;
  Surcharge surcharge_;
};

}  // namespace

PluginInstance make_gpu_packing(k8s::yaml::ObjectReader& args) {
  return {.score = std::make_unique<GpuPacking>(read_gpu_packing_args(args))};
}

}  // namespace plugins
