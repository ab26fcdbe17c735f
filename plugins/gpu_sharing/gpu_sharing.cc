#include "plugins/gpu_sharing/gpu_sharing.h"

#include "plugins/support/args.h"
#include "plugins/support/share.h"
#include "plugins/support/wish_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;
using gpu::SharingWish;

struct Settings {
  SharingWish default_sharing = SharingWish::kAllowed;
  bool spread = false;
  std::optional<bool> one_only;  // failRequestsGreaterThanOne; nullopt: as the sharing has it
};

bool is_shared_resource(std::string_view name) {
  return name == gpu::kSharedResource ||
         (name.starts_with("nvidia.com/mig-") && name.ends_with(".shared"));
}

enum Reason : unsigned { kShared, kNotShared, kSeveral };

// For pods that ask for nvidia.com/gpu, or for several of nvidia.com/gpu.shared.
class SharingFilter final : public NodeFilter {
 public:
  // What keeps a pod that asks for several pieces off shared GPUs.
  enum class Several : std::uint8_t { kServed, kFailedByMps, kFailed };

  SharingFilter(SharingWish sharing, Several several) : sharing_(sharing), several_(several) {}

  Verdict check(const NodeView& node) const override {
    if (node.facts.gpu.sharing == gpu::Sharing::kNone) {
      return sharing_ == SharingWish::kRequired ? Verdict::unresolvable(1U << kNotShared)
                                                : Verdict::ok();
    }
    if (sharing_ == SharingWish::kNever) return Verdict::unresolvable(1U << kShared);
    return fails_several(node.facts.gpu.sharing) ? Verdict::unresolvable(1U << kSeveral)
                                                 : Verdict::ok();
  }

  bool reads_usage() const override { return false; }

  const std::vector<std::string>& reasons() const override {
    static const std::vector<std::string> kReasons = {
        "node(s) had shared GPUs, which the pod does not accept",
        "node(s) had no shared GPUs",
        "node(s) had shared GPUs, of which a pod may ask for one piece only",
    };
    return kReasons;
  }

  std::string numbers(const NodeView& node, unsigned) const override {
    const gpu::Inventory& gpu = node.facts.gpu;
    if (gpu.sharing == gpu::Sharing::kNone) return fmt::format("{} GPUs, not shared", gpu.gpus);
    return fmt::format("{}, {} pieces to a GPU", to_string(gpu.sharing), gpu.replicas);
  }

 private:
  [[nodiscard]] bool fails_several(gpu::Sharing sharing) const {
    return several_ == Several::kFailed ||
           (several_ == Several::kFailedByMps && sharing == gpu::Sharing::kMps);
  }

  SharingWish sharing_;
  Several several_;
};

class GpuSharingFilter final : public FilterPlugin {
 public:
  explicit GpuSharingFilter(const Settings& settings) : settings_(settings) {}
  std::string_view name() const override { return "GpuSharing"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext& context) const override {
    FilterPreparation preparation;
    preparation.rejection = problem_with({gpu::kSharingAnnotation}, shape.wishes);
    for (const ResourceAmount& request : shape.requests) {
      const std::string& resource = context.resources.name(request.resource);
      if (preparation.rejection || !is_shared_resource(resource)) continue;
      if (shape.wishes.sharing == SharingWish::kNever) {
        preparation.rejection =
            fmt::format("{}: never, but the pod asks for {}", gpu::kSharingAnnotation, resource);
      } else if (several_of(shape, request.resource) == Several::kFailed) {
        preparation.rejection =
            fmt::format("asks for {} {}: a pod may ask for one piece of a shared GPU only",
                        request.amount, resource);
      } else if (resource == gpu::kSharedResource &&
                 several_of(shape, request.resource) != Several::kServed) {
        preparation.filter =
            std::make_unique<SharingFilter>(SharingWish::kAllowed, Several::kFailedByMps);
      }
    }
    if (shape.request(kNvidiaGpu) > 0) {
      const SharingWish said = shape.wishes.sharing;
      preparation.filter = std::make_unique<SharingFilter>(
          said == SharingWish::kUnsaid ? settings_.default_sharing : said,
          several_of(shape, kNvidiaGpu));
    }
    return preparation;
  }

 private:
  using Several = SharingFilter::Several;

  // Device plugins are asked for one container at a time.
  [[nodiscard]] Several several_of(const PodShape& shape, ResourceId resource) const {
    if (shape.request_of_one_container(resource) <= 1) return Several::kServed;
    if (!settings_.one_only) return Several::kFailedByMps;
    return *settings_.one_only ? Several::kFailed : Several::kServed;
  }

  Settings settings_;
};

// How a node's pieces would be taken with the pod. A GPU of one's own is ahead of them, or behind
// where replicas are welcome.
class SharingScore final : public NodeScore {
 public:
  SharingScore(ResourceAmount asked, bool own_gpu_first, bool spread)
      : asked_(asked),
        own_gpu_(own_gpu_first ? 2 * kMaxScore : 0),
        replica_(own_gpu_first ? 0 : kMaxScore),
        spread_(spread) {}

  std::int64_t score(const NodeView& node) const override {
    if (asked_.resource == kNvidiaGpu && node.facts.gpu.sharing == gpu::Sharing::kNone) {
      return own_gpu_;
    }
    const std::int64_t pieces = node.allocatable(asked_.resource);
    if (pieces <= 0) return 0;
    const std::int64_t taken = std::clamp<std::int64_t>(
        saturating_add(node.requested(asked_.resource), asked_.amount), 0, pieces);
    const std::int64_t full = percentage(taken, pieces);
    return replica_ + (spread_ ? kMaxScore - full : full);
  }

 private:
  ResourceAmount asked_;
  std::int64_t own_gpu_;
  std::int64_t replica_;
  bool spread_;
};

class GpuSharingScore final : public ScorePlugin {
 public:
  explicit GpuSharingScore(const Settings& settings) : settings_(settings) {}
  std::string_view name() const override { return "GpuSharing"; }
  std::int64_t max_score() const override { return 2 * kMaxScore; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    for (const ResourceAmount& request : shape.requests) {
      const bool gpu = request.resource == kNvidiaGpu;
      if (!gpu && !is_shared_resource(context.resources.name(request.resource))) continue;
      const bool own_gpu_first = !gpu || shape.wishes.sharing == SharingWish::kUnsaid;
      return std::make_unique<SharingScore>(request, own_gpu_first, settings_.spread);
    }
    return nullptr;
  }

 private:
  Settings settings_;
};

Settings read_settings(k8s::yaml::ObjectReader& args) {
  read_type(args, "GpuSharingArgs");
  Settings settings;
  const auto sharing = args.one_of("defaultSharing", {"allowed", "required", "never"});
  if (sharing == "required") settings.default_sharing = SharingWish::kRequired;
  if (sharing == "never") settings.default_sharing = SharingWish::kNever;
  settings.spread = args.one_of("placement", {"packed", "spread"}) == "spread";
  settings.one_only = args.boolean("failRequestsGreaterThanOne");
  return settings;
}

}  // namespace

PluginInstance make_gpu_sharing(k8s::yaml::ObjectReader& args) {
  const Settings settings = read_settings(args);
  PluginInstance instance;
  instance.filter = std::make_unique<GpuSharingFilter>(settings);
  instance.score = std::make_unique<GpuSharingScore>(settings);
  return instance;
}

}  // namespace plugins
