// GpuPackingScore: uses partly used GPUs first, then free GPUs of used nodes, then unused nodes.
//
// Under its name in the artefact; this project's own packing is GpuPacking. For a pod with GPU:
//
//   all GPUs of the node are free, f of them:   max(33 − f, f)
//   it would begin u free GPUs of a used node:  max(50 − u, 33)
//   it fits on a GPU in use:                    max(100 − (its free per cent) / 10, 50)
//
// A share is scored for the fullest GPU that has room, which is where it goes. Pods without GPU and
// MIG instances are not scored. Without arguments.
#include "bench/policies/published/published.h"
#include "plugins/support/gpu_ask.h"
#include "scheduler/framework/free_devices.h"

#include <algorithm>
#include <optional>

namespace bench {
namespace {

using namespace plugins;
using namespace sched;

// The scores if no new GPU or node is used, if a new GPU, if a new node: 100 …, 50 …, 33 and below.
constexpr std::int64_t kBeginsGpu = kMaxScore / 2;
constexpr std::int64_t kBeginsNode = kMaxScore / 3;

// What is free of the fullest used GPU with room for that much.
std::optional<std::int64_t> tightest_in_use(const FreeDevices& free, std::int64_t milli) {
  std::optional<std::int64_t> least;
  for (const std::int32_t left : free) {
    if (left < milli || left == gpu::kMilliPerGpu) continue;
    if (!least || left < *least) least = left;
  }
  return least;
}

class Begun final : public NodeScore {
 public:
  explicit Begun(const GpuAsk& ask) : ask_(ask) {}

  std::int64_t score(const NodeView& node) const override {
    const FreeDevices free = free_devices(node);
    const std::int64_t unused = std::count(free.begin(), free.end(), gpu::kMilliPerGpu);
    if (unused == static_cast<std::int64_t>(free.size())) {
      return std::max(kBeginsNode - unused, unused);
    }
    if (const auto left = tightest_in_use(free, ask_.milli)) {
      const std::int64_t free_percent = *left * 100 / gpu::kMilliPerGpu;
      return std::max(kMaxScore - free_percent / 10, kBeginsGpu);
    }
    return std::max(kBeginsGpu - ask_.gpus, kBeginsNode);
  }

 private:
  GpuAsk ask_;
};

class GpuPackingScore final : public ScorePlugin {
 public:
  std::string_view name() const override { return "GpuPackingScore"; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    const GpuAsk ask = gpu_ask_of(shape, context);
    if (ask.gpus == 0) return nullptr;
    return std::make_unique<Begun>(ask);
  }
};

}  // namespace

PluginInstance make_gpu_packing_score(k8s::yaml::ObjectReader&) {
  return {.score = std::make_unique<GpuPackingScore>()};
}

}  // namespace bench
