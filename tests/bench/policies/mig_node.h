// A node of GPUs that are kept one by one, for questions about MIG instances.
#pragma once

#include "scheduler/framework/plugin.h"
#include "scheduler/gpu/product.h"
#include "tests/support/builders.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace tests {

class MigNode {
 public:
  explicit MigNode(std::string_view product, sched::gpu::DeviceUses uses, std::int64_t gpus = 1)
      : facts_(sched::facts_of(node("n").gpus(gpus).product(product), names_)) {
    facts_.gpu_devices = gpus;
    usage_.devices = std::move(uses);
  }

  [[nodiscard]] sched::NodeView view() const { return {facts_, usage_}; }

  // A pod that asks for instances of a profile, prepared by a filter or a score. Devices are kept
  // apart unless said otherwise.
  template <class Plugin>
  [[nodiscard]] auto prepare(const Plugin& plugin, std::string_view profile,
                             std::string_view instances = "1", bool apart = true) {
    return prepare(plugin, pod("a").requests("nvidia.com/mig-" + std::string(profile), instances),
                   apart);
  }
  template <class Plugin>
  [[nodiscard]] auto prepare(const Plugin& plugin, const k8s::Pod& given, bool apart = true) {
    const sched::PodShape shape = sched::shape_of(given, names_);
    auto context = std::make_shared<sched::ClusterContext>();
    context->devices_apart = apart;
    return plugin.prepare(shape, {names_, context});
  }

 private:
  sched::ResourceNames names_;
  sched::NodeFacts facts_;
  sched::NodeUsage usage_;
};

inline constexpr const char* kA100 = "NVIDIA-A100-SXM4-80GB";
inline const sched::gpu::mig::Geometry& a100() { return *sched::gpu::geometry_of(kA100); }

}  // namespace tests
