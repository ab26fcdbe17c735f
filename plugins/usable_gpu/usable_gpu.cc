// UsableGpu: keeps a node's free GPUs usable for the pods that typically come.
//
// What is left on a node is worth V = Σ W · U + price · free (plugins/support/gpu_value.h): for
// every typical kind of pod that may run on the node's model, the free GPU that such pods could use
// with the node's CPU and memory, times the kind's weight; and the free GPU times the price of the
// model. A pod goes where it destroys least beyond what it takes:
//
//   key = floor((requested milli − (V_before − V_after) / 2^20) / quantum)
//
// A share of a GPU is tried on every device. Keys are coarse on purpose: among about equally good
// nodes the tie-break decides, and a stable order packs. The score is the key plus a constant, so
// that it is never below 0; the order of scores is that of keys on every node of up to 32 GPUs.
//
// It differs from fragmentation gradient descent (Fgd, for replays) in three ways. A GPU for which
// the node's CPU or memory does not suffice is not usable; a kind's memory is the mean of its pods.
// Kinds do not count by frequency alone: small kinds count more (v^-x, with v the GPUs that a pod
// asks for), because they can still use what is left; so do kinds with several GPUs, because no
// others wait as long when pods come and go; and kinds that only few nodes are large enough for:
// these nodes would be filled first, as they have the most CPU and memory for pods of all kinds.
// And models have prices.
//
// The weights of the kinds that may run on a model add up to one. So between models the price
// decides: a pod that may run anywhere leaves a model free if other pods can run only there,
// because they name it, or because only its nodes have enough CPU and memory. Per GPU of a model,
// in GPUs:
//
//   price = min(ρ^3, 2), or 0 below 0.001
//
// ρ is what such confined pods ask for per GPU of the model, divided by what all pods ask for per
// GPU of the cluster. At ρ = 1 confined pods of one GPU want as large a part of the model's GPUs as
// all pods want of all GPUs. At a lower ρ there is room for other pods: hence a power. A kind of
// pods that asks for A GPUs in all counts as c · g · A confined GPUs, spread over the models in
// proportion to their GPUs on which it may run:
//
//   g   the GPUs that one pod asks for: several must be free on one node at the same time
//   c   min(1, 2 · (1 − p)), with p the part of the GPUs on which the kind may run: 1 for half of
//       the GPUs and less. It is a part of the GPUs of nodes with g or more GPUs; for a kind that
//       names models, and so is confined for a reason of its own, of all GPUs
//
// Arguments (UsableGpuArgs), all with the defaults that held up best when pods come and go:
//
//   coverage: 90          per cent of the pods that the typical kinds cover, most frequent first
//   popularity: linear    p, how frequent a kind is; or sqrt: √p
//   weightExponent: 3     x of v^-x; whole or half
//   quantum: 50           milli-GPU that make a difference
//   multiGpu:
//     keepAll: true       kinds of two and more GPUs are typical however rare they are
//     factor: 30          their weight is factor · p; 0: weighed by v^-x like all others
//   conserveCpu: 8        milli-GPU that each core left on a node with GPUs counts as lost, while
//                         CPU is scarce there (scheduler/cluster/cpu_use.h); 0: never; at
//                         most 100, with which 640 cores count as much as 64 GPUs
//   scarcity: true        weights are multiplied by s^1.25, with s the GPUs of the nodes with as
//                         many as the pod asks for / those of them with its CPU and memory
//   modelPrices: true     false: each price is 0
//
// Pods are not scored while no workload is known, nor are pods that ask for MIG instances. How the
// defaults were found, and what did not help: bench/replay/RESULTS.md.
#include "plugins/factories.h"
#include "plugins/usable_gpu/scoring.h"

namespace plugins {
namespace {

using namespace sched;

class UsableGpu final : public ScorePlugin {
 public:
  explicit UsableGpu(const UsableGpuArgs& args) : scoring_(args) {}

  std::string_view name() const override { return "UsableGpu"; }
  std::int64_t max_score() const override { return scoring_.max_score(); }
  bool reads_statistics() const override { return true; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    if (shape.gpu.has_instances()) return nullptr;
    return scoring_.prepare(gpu_ask_of(shape, context), context.cluster);
  }

 private:
  UsableGpuScoring scoring_;
};

}  // namespace

PluginInstance make_usable_gpu(k8s::yaml::ObjectReader& args) {
  return {.score = std::make_unique<UsableGpu>(read_usable_gpu_args(args))};
}

}  // namespace plugins
