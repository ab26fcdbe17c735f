#include "bench/devices/allocator.h"

#include "bench/devices/choose.h"

#include <algorithm>

namespace bench {
namespace {

using namespace sched;

class Allocator final : public DeviceAllocator {
 public:
  std::int64_t devices_of(const NodeFacts& node) const override {
    return std::clamp<std::int64_t>(node.gpu.whole_gpus(), 0,
                                    static_cast<std::int64_t>(gpu::kMaxDevices));
  }

  std::vector<gpu::DeviceShare> allocate(const PodShape& shape,
                                         const NodeView& node) const override {
    return choose_devices(shape.gpu, node_devices(node)).value_or(std::vector<gpu::DeviceShare>{});
  }
};

}  // namespace

std::shared_ptr<const DeviceAllocator> device_allocator() { return std::make_shared<Allocator>(); }

}  // namespace bench
