#include "bench/policies/mig_placement/mig_placement.h"

#include "bench/devices/choose.h"
#include "bench/policies/mig_placement/rules.h"
#include "plugins/support/args.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

using namespace plugins;
using namespace sched;

// Loss first, then the GPU's fullness, then the start: digits of one number.
constexpr std::int64_t kStarts = 16;
constexpr std::int64_t kFullnesses = 16;
constexpr std::int64_t kBestRating = 2 * MigLoss::kMost * kFullnesses * kStarts;

// A rule with its tables.
class Rating {
 public:
  explicit Rating(const MigRule& rule) : rule_(rule), loss_(rule.keeps) {}

  // 0 … kBestRating.
  std::int64_t of(const gpu::mig::Geometry& geometry, std::uint16_t occupied,
                  const gpu::DeviceShare& place, unsigned start) const {
    const auto after = static_cast<std::uint16_t>(occupied | place.slices);
    const std::int64_t kept = MigLoss::kMost - loss_.of(geometry, occupied, after);
    return (kept * kFullnesses + fullness(geometry, occupied)) * kStarts + start_digit(start);
  }

 private:
  int fullness(const gpu::mig::Geometry& geometry, std::uint16_t occupied) const {
    const int taken = std::popcount(occupied);
    if (rule_.gpus == GpuOrder::kAny) return 0;
    return rule_.gpus == GpuOrder::kFullest ? taken : geometry.slices - taken;
  }

  // On a GPU the lowest start is taken; among GPUs the first one.
  unsigned start_digit(unsigned start) const {
    return rule_.starts == StartOrder::kHighest ? start : 0;
  }

  MigRule rule_;
  MigLoss loss_;
};

class BestPlace final : public NodeScore {
 public:
  BestPlace(std::shared_ptr<const Rating> rating, const std::string& profile)
      : rating_(std::move(rating)), profiles_(profile) {}

  std::int64_t score(const NodeView& node) const override {
    const auto best = best_on(node);
    return best ? best->rating : 0;
  }

  std::optional<gpu::DeviceShare> choose_device(const NodeView& node) const override {
    const auto best = best_on(node);
    if (!best) return std::nullopt;
    return best->place;
  }

 private:
  struct Rated {
    gpu::DeviceShare place;
    std::int64_t rating = 0;
  };

  std::optional<Rated> best_on(const NodeView& node) const {
    const gpu::mig::Geometry* geometry = node.facts.gpu.product.geometry;
    const gpu::mig::Profile* profile = profiles_.on(geometry);
    std::optional<Rated> best;
    if (profile == nullptr) return best;
    const NodeDevices devices = node_devices(node);
    for (std::uint32_t device = 0; device < devices.count; ++device) {
      const gpu::DeviceUse use = devices.use(device);
      for (unsigned left = gpu::mig::legal_starts(*profile, use); left != 0; left &= left - 1) {
        const auto start = static_cast<unsigned>(std::countr_zero(left));
        const gpu::DeviceShare place = gpu::mig::instance_at(*profile, device, start);
        const std::int64_t rating = rating_->of(*geometry, use.slices, place, start);
        if (!best || rating > best->rating) best = {.place = place, .rating = rating};
      }
    }
    return best;
  }

  std::shared_ptr<const Rating> rating_;
  gpu::mig::ProfileByModel profiles_;
};

class MigPlacement final : public ScorePlugin {
 public:
  explicit MigPlacement(const MigRule& rule) : rating_(std::make_shared<const Rating>(rule)) {}

  std::string_view name() const override { return "MigPlacement"; }
  std::int64_t max_score() const override { return kBestRating; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    if (!context.cluster->devices_apart || !shape.gpu.is_one_instance()) return nullptr;
    return std::make_unique<BestPlace>(rating_, shape.gpu.instances.front().profile);
  }

 private:
  std::shared_ptr<const Rating> rating_;
};

const MigRule& rule_named(std::string_view name) {
  const std::vector<MigRule>& rules = mig_rules();
  return *std::find_if(rules.begin(), rules.end(),
                       [&](const MigRule& rule) { return rule.name == name; });
}

}  // namespace

PluginInstance make_mig_placement(k8s::yaml::ObjectReader& args) {
  read_type(args, "MigPlacementArgs");
  std::vector<std::string_view> names;
  for (const MigRule& rule : mig_rules()) names.push_back(rule.name);
  return {.score = std::make_unique<MigPlacement>(
              rule_named(args.one_of("policy", names).value_or("expected-fill")))};
}

}  // namespace bench
