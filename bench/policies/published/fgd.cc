// Fgd: fragmentation gradient descent, with the published integer score.
//
// The typical pods M are the kinds of pods that together make up 95 % of the workload (§3.2; CPU
// pods included), p_m how frequent each is. The fragmentation F_n(M) of a node is the free GPU that
// a pod drawn from M is expected not to be able to use. A pod goes where it adds least to it:
//
//   score = int(100 · sigmoid((F_before − F_after) / 1,000 milli-GPU))
//
// A share of a GPU is tried on every device, the first of the best is taken. A pod that requests
// nothing scores 100 everywhere. Pods are not scored while no workload is known, nor are pods that
// ask for MIG instances.
//
// Computed in integers: with p_m = count_m / covered, covered · (F_before − F_after) is an integer
// (see plugins/support/gpu_value.h, sigmoid_score.h). Ties matter as much as the score (measured:
// bench/replay/README.md): the published results are those of `tieBreak: shuffled-nodes`. Without
// arguments.
#include "bench/policies/published/published.h"
#include "bench/policies/published/sigmoid_score.h"
#include "plugins/support/gpu_ask.h"
#include "plugins/support/gpu_value.h"
#include "plugins/support/per_version.h"
#include "plugins/support/typical_pods.h"
#include "plugins/support/value_score.h"

#include <utility>

namespace bench {
namespace {

using namespace plugins;
using namespace sched;

constexpr std::int64_t kCoveredPercent = 95;

KindsByModel by_count(const TypicalPods& typical) {
  KindsByModel kinds;
  for (const std::string& model : models_apart(typical.pods)) {
    for (const TypicalPod& pod : typical.pods) {
      if (pod.gpus == 0 || !may_run_on(pod, model)) continue;
      kinds[model].push_back({.cpu = pod.cpu,
                              .gpus = pod.gpus,
                              .milli = pod.milli,
                              .weight = static_cast<std::int64_t>(pod.count)});
    }
  }
  return kinds;
}

// The workload, as FGD uses it.
struct Workload {
  explicit Workload(const TypicalPods& typical)
      : covered(typical.covered),
        value(std::make_shared<const GpuValue>(by_count(typical), HostLimit::kOnce)),
        score(std::max<std::uint64_t>(covered, 1) * gpu::kMilliPerGpu) {}

  std::uint64_t covered;
  std::shared_ptr<const GpuValue> value;  // covered · Σ p_m · (G_n − F_n(m))
  SigmoidScore score;
};

class LessFragmented final : public ValueScore {
 public:
  LessFragmented(std::shared_ptr<const Workload> workload, const GpuAsk& ask)
      : ValueScore(workload->value, ask), workload_(std::move(workload)) {}

 private:
  // F = G − V/covered, and G decreases by what is requested.
  std::int64_t rate(std::int64_t lost, std::int64_t /*cpu_left*/) const override {
    const auto covered = static_cast<std::int64_t>(workload_->covered);
    return workload_->score.of(requested() * covered - lost);
  }

  std::shared_ptr<const Workload> workload_;
};

class EverywhereBest final : public NodeScore {
 public:
  std::int64_t score(const NodeView&) const override { return kMaxScore; }
};

class Fgd final : public ScorePlugin {
 public:
  std::string_view name() const override { return "Fgd"; }
  bool reads_statistics() const override { return true; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    if (shape.gpu.has_instances()) return nullptr;
    if (shape.requests.empty()) return std::make_unique<EverywhereBest>();
    auto workload = workload_.get(context.cluster, [](const ClusterContext& cluster) {
      return Workload(typical_pods(cluster, kCoveredPercent));
    });
    if (workload->covered == 0) return nullptr;
    return std::make_unique<LessFragmented>(std::move(workload), gpu_ask_of(shape, context));
  }

 private:
  mutable PerVersion<Workload> workload_;
};

}  // namespace

PluginInstance make_fgd(k8s::yaml::ObjectReader&) { return {.score = std::make_unique<Fgd>()}; }

}  // namespace bench
