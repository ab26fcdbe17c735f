// MigFit: pods that ask for MIG instances, and nodes on which nvidia.com/gpu are instances.
//
// Under the MIG strategy `mixed` each profile is a resource of its own, nvidia.com/mig-3g.40gb:
// NodeResourcesFit checks whether one is free. MigFit adds to the message of a waiting pod which
// nodes have the profile and none free, which could hold it if their GPUs were repartitioned, and
// which never could: on another model the same name means another profile, or none.
//
// Under the strategy `single` nvidia.com/gpu itself is an instance, and all are of one profile. A
// pod that asks for a GPU and gets a seventh of one would not get what it means, so such a node
// takes only pods that name its profile: by the annotation or label gpu-scheduler.io/mig-profile
// (which also keeps them off all other nodes), or in their node selection, by the product's label
// or by GKE's partition size. For a pod that asks for no GPU the annotation has no effect, as all
// annotations of this scheduler: it may come from a template that several kinds of pods share.
//
// On a live cluster instances are counted; the device plugin decides on which GPU they are, and
// where on it. Replays create instances as pods come: bench/policies/gpu_devices. Without
// arguments.
#include "plugins/factories.h"
#include "plugins/mig_fit/survey.h"
#include "plugins/support/wish_problems.h"
#include "scheduler/gpu/mig/resource_name.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

enum MigReason : unsigned { kUnnamedInstances, kOtherProfile };

// Adds to the message of pods that wait for nvidia.com/mig-… which nodes have or could have it.
class TellingFilter : public NodeFilter {
 public:
  explicit TellingFilter(std::vector<InstanceAsk> asks) : asks_(std::move(asks)) {}
  bool reads_usage() const final { return false; }
  std::unique_ptr<Survey> survey() const override {
    return asks_.empty() ? nullptr : make_mig_survey(asks_);
  }

 private:
  std::vector<InstanceAsk> asks_;
};

// For pods that ask for nvidia.com/gpu.
class SingleStrategyFilter final : public TellingFilter {
 public:
  SingleStrategyFilter(gpu::Wishes wishes, std::vector<InstanceAsk> asks)
      : TellingFilter(std::move(asks)),
        wishes_(std::move(wishes)),
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
    if (profile.empty() && gpu.labels_awaited) return std::string(gpu::kNotLabelledYet);
    if (profile.empty()) return "no MIG instances there";
    const std::string_view product =
        gpu.product.name.empty() ? "GPUs that no label names" : std::string_view(gpu.product.name);
    const std::string there = fmt::format("{} of profile {} of {}", gpu.gpus, profile, product);
    if (index == kOtherProfile) return there;
    return fmt::format("{}; annotation {}: {} asks for one", there, gpu::kMigProfileAnnotation,
                       profile);
  }

 private:
  gpu::Wishes wishes_;
  std::vector<std::string> reasons_;
};

// For pods that ask for nvidia.com/mig-… alone: refuses nothing.
class MixedStrategyFilter final : public TellingFilter {
 public:
  using TellingFilter::TellingFilter;

  Verdict check(const NodeView&) const override { return Verdict::ok(); }
  const std::vector<std::string>& reasons() const override {
    static const std::vector<std::string> kNone;
    return kNone;
  }
};

std::vector<InstanceAsk> instances_of(const PodShape& shape, const ResourceNames& names) {
  std::vector<InstanceAsk> asks;
  for (const auto& [resource, amount] : shape.requests) {
    const std::string& name = names.name(resource);
    if (const auto mig = gpu::mig::parse_resource(name)) {
      asks.push_back({resource, name, mig->profile, amount});
    }
  }
  return asks;
}

// A pod that asks for instances by their own resources, and names another profile.
std::optional<std::string> contradiction(const gpu::Wishes& wishes,
                                         const std::vector<InstanceAsk>& asks) {
  if (wishes.mig_profile.empty()) return std::nullopt;
  std::vector<std::string> resources;
  for (const InstanceAsk& ask : asks) {
    if (ask.profile == wishes.mig_profile) return std::nullopt;
    resources.push_back(ask.resource_name);
  }
  return fmt::format("{}: {}, but the pod asks for {}", gpu::kMigProfileAnnotation,
                     wishes.mig_profile, fmt::join(resources, ", "));
}

class MigFit final : public FilterPlugin {
 public:
  std::string_view name() const override { return "MigFit"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext& context) const override {
    FilterPreparation preparation;
    preparation.rejection = problem_with({gpu::kMigProfileAnnotation}, shape.wishes);
    std::vector<InstanceAsk> asks = instances_of(shape, context.resources);
    if (shape.request(kNvidiaGpu) > 0) {
      preparation.filter = std::make_unique<SingleStrategyFilter>(shape.wishes, std::move(asks));
    } else if (!asks.empty()) {
      if (!preparation.rejection) preparation.rejection = contradiction(shape.wishes, asks);
      preparation.filter = std::make_unique<MixedStrategyFilter>(std::move(asks));
    }
    return preparation;
  }
};

}  // namespace

PluginInstance make_mig_fit(k8s::yaml::ObjectReader&) {
  return {.filter = std::make_unique<MigFit>()};
}

}  // namespace plugins
