#include "plugins/usable_gpu/usable_gpu.h"

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
  PluginInstance instance;
  instance.score = std::make_unique<UsableGpu>(read_usable_gpu_args(args));
  return instance;
}

}  // namespace plugins
