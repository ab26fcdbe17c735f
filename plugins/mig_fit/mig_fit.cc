#include "plugins/mig_fit/mig_fit.h"

#include "plugins/mig_fit/survey.h"
#include "plugins/support/wish_problems.h"
#include "scheduler/gpu/mig/resource_name.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

enum Reason : unsigned { kUnnamedInstances, kOtherProfile };

// For pods that ask for nvidia.com/gpu.
class SingleStrategyFilter final : public NodeFilter {
 public:
  explicit SingleStrategyFilter(gpu::Wishes wishes)
      : wishes_(std::move(wishes)),
        reasons_{"node(s) had MIG instances as nvidia.com/gpu, and the pod names no such profile",
                 fmt::format("node(s) had no MIG instances of {} as nvidia.com/gpu",
                             wishes_.mig_profile)} {}

  Verdict check(const NodeView& node) const override {
    const gpu::Inventory& gpu = node.facts.gpu;
    if (!wishes_.mig_profile.empty()) {
      return gpu.single_profile == wishes_.mig_profile ? Verdict::ok()
                                                       : Verdict::unresolvable(1U << kOtherProfile);
    }
    if (gpu.piece != gpu::GpuPiece::kMigInstance) return Verdict::ok();
    return gpu::names_profile(wishes_, gpu.single_profile)
               ? Verdict::ok()
               : Verdict::unresolvable(1U << kUnnamedInstances);
  }

  const std::vector<std::string>& reasons() const override { return reasons_; }

  std::string numbers(const NodeView& node, unsigned index) const override {
    const gpu::Inventory& gpu = node.facts.gpu;
    const std::string& profile = gpu.single_profile;
    if (profile.empty()) return "no MIG instances there";
    const std::string there =
        fmt::format("{} of profile {} of {}", gpu.gpus, profile, gpu.product.name);
    if (index == kOtherProfile) return there;
    return fmt::format("{}; annotation {}: {} asks for one", there, gpu::kMigProfileAnnotation,
                       profile);
  }

 private:
  gpu::Wishes wishes_;
  std::vector<std::string> reasons_;
};

// For pods that ask for nvidia.com/mig-…: refuses nothing, tells what there is.
class MixedStrategyFilter final : public NodeFilter {
 public:
  MixedStrategyFilter(ResourceId resource, std::string resource_name, std::string profile)
      : resource_(resource),
        resource_name_(std::move(resource_name)),
        profile_(std::move(profile)) {}

  Verdict check(const NodeView&) const override { return Verdict::ok(); }
  const std::vector<std::string>& reasons() const override { return no_reasons_; }
  std::unique_ptr<Survey> survey() const override {
    return make_mig_survey(resource_, resource_name_, profile_);
  }

 private:
  ResourceId resource_;
  std::string resource_name_;
  std::string profile_;
  std::vector<std::string> no_reasons_;
};

class MigFit final : public FilterPlugin {
 public:
  std::string_view name() const override { return "MigFit"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext& context) const override {
    FilterPreparation preparation;
    preparation.rejection = problem_with({gpu::kMigProfileAnnotation}, shape.wishes);
    if (shape.request(kNvidiaGpu) > 0) {
      preparation.filter = std::make_unique<SingleStrategyFilter>(shape.wishes);
      return preparation;
    }
    for (const ResourceAmount& request : shape.requests) {
      const std::string& resource = context.resources.name(request.resource);
      const auto mig = gpu::mig::parse_resource(resource);
      if (!mig) continue;
      if (!shape.wishes.mig_profile.empty() && shape.wishes.mig_profile != mig->profile) {
        preparation.rejection =
            fmt::format("{}: {}, but the pod asks for {}", gpu::kMigProfileAnnotation,
                        shape.wishes.mig_profile, resource);
      }
      preparation.filter =
          std::make_unique<MixedStrategyFilter>(request.resource, resource, mig->profile);
    }
    return preparation;
  }
};

}  // namespace

PluginInstance make_mig_fit(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.filter = std::make_unique<MigFit>();
  return instance;
}

}  // namespace plugins
