#include "bench/policies/fgd/fgd.h"

#include "bench/policies/fgd/sigmoid_score.h"
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

std::vector<WeightedKind> by_count(const TypicalPods& typical) {
  std::vector<WeightedKind> kinds;
  for (const TypicalPod& pod : typical.pods) {
    if (pod.gpus == 0) continue;
    kinds.push_back({.cpu = pod.cpu,
                     .gpus = pod.gpus,
                     .milli = pod.milli,
                     .products = pod.products,
                     .weight = static_cast<std::int64_t>(pod.count)});
  }
  return kinds;
}

// What FGD knows of a workload.
struct Workload {
  explicit Workload(const TypicalPods& typical)
      : covered(typical.covered),
        value(std::make_shared<const GpuValue>(by_count(typical), CpuLimit::kOnce)),
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
  // F = G − V/covered, and G sinks by what is requested.
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

PluginInstance make_fgd(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.score = std::make_unique<Fgd>();
  return instance;
}

}  // namespace bench
