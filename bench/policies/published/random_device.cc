// RandomDevice: puts a share of a GPU on any of the node's devices that have room, drawn from a
// seed.
//
// All nodes score 0: with `tieBreak: random` this is the published Random, which draws node and
// device. The draw depends only on the seed, the pod's share, and on the node's name and present
// devices; so the answer can be stored until the node changes, and a replay draws the same again.
//
// Arguments (RandomDeviceArgs): seed (0).
#include "bench/policies/published/published.h"
#include "plugins/support/args.h"
#include "plugins/support/gpu_ask.h"
#include "scheduler/base/random.h"
#include "scheduler/framework/free_devices.h"

#include <vector>

namespace bench {
namespace {

using namespace plugins;
using namespace sched;

class AnyDevice final : public NodeScore {
 public:
  AnyDevice(std::uint64_t seed, std::int64_t milli) : seed_(seed), milli_(milli) {}

  std::int64_t score(const NodeView&) const override { return 0; }

  std::optional<gpu::DeviceShare> choose_device(const NodeView& node) const override {
    const FreeDevices free = free_devices(node);
    std::vector<std::uint32_t> with_room;
    std::uint64_t hash = mix64(seed_ ^ static_cast<std::uint64_t>(milli_));
    for (const char c : node.facts.name) hash = mix64(hash ^ static_cast<unsigned char>(c));
    for (std::size_t device = 0; device < free.size(); ++device) {
      hash = mix64(hash ^ static_cast<std::uint64_t>(free[device]));
      if (free[device] >= milli_) with_room.push_back(static_cast<std::uint32_t>(device));
    }
    if (with_room.empty()) return std::nullopt;
    return gpu::DeviceShare{.device = with_room[bounded(hash, with_room.size())],
                            .milli = static_cast<std::int32_t>(milli_)};
  }

 private:
  std::uint64_t seed_;
  std::int64_t milli_;
};

class RandomDevice final : public ScorePlugin {
 public:
  explicit RandomDevice(std::uint64_t seed) : seed_(seed) {}

  std::string_view name() const override { return "RandomDevice"; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    const GpuAsk ask = gpu_ask_of(shape, context);
    if (!ask.is_share()) return nullptr;
    return std::make_unique<AnyDevice>(seed_, ask.milli);
  }

 private:
  std::uint64_t seed_;
};

}  // namespace

PluginInstance make_random_device(std::uint64_t seed) {
  return {.score = std::make_unique<RandomDevice>(seed)};
}

PluginInstance make_random_device(k8s::yaml::ObjectReader& args) {
  read_type(args, "RandomDeviceArgs");
  const std::int64_t seed = args.integer("seed", {.min = 0}).value_or(0);
  return make_random_device(static_cast<std::uint64_t>(seed));
}

}  // namespace bench
