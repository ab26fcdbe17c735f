// GpuType: the GPUs that a pod's annotations ask for.
//
//   gpu-scheduler.io/gpu-type: "H100, A100-80GB"     in order of preference
//   gpu-scheduler.io/min-gpu-memory: 40Gi
//   gpu-scheduler.io/min-compute-capability: "8.0"
//   gpu-scheduler.io/min-driver-version: "570.86"
//   gpu-scheduler.io/min-cuda-version: "12.8"
//
// A type is a class, a class with a word for a variant, a product or a label's value
// (scheduler/gpu/type_name.h). The first listed type that has a node where the pod fits wins; other
// scores choose only among that type's nodes. nodeSelector and affinity still apply.
//
// Memory and capability are those of the GPU or MIG instance that the pod gets a piece of; with MPS
// those of a replica's part. If the node's labels do not state them, and its product is not known,
// the node does not count as having enough. The "80 GB" of marketing is 80G, not 80Gi: an H100
// reports 79.6Gi.
//
// Driver and CUDA are the node's: from the labels of GPU feature discovery for NVIDIA's driver, and
// for the newest CUDA that it supports. While the GPU operator upgrades the driver, the message has
// the state of that (nvidia.com/gpu-driver-upgrade-state).
//
// A pod without GPU may name a type, too: then it runs on nodes with such GPUs.
//
// If no node of the cluster has a type, the message of a waiting pod names the type, with the
// nearest existing ones. Without arguments.
#include "plugins/factories.h"
#include "plugins/gpu_type/ask.h"
#include "plugins/gpu_type/survey.h"
#include "plugins/support/gibibytes.h"
#include "plugins/support/wish_problems.h"
#include "scheduler/gpu/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

enum TypeReason : unsigned {
  kOtherType,
  kSeveralTypes,
  kTooLittleMemory,
  kTooOld,
  kOldDriver,
  kOldCuda
};

// The GPU operator's label, while it upgrades a node's driver.
constexpr std::string_view kUpgradeLabel = "nvidia.com/gpu-driver-upgrade-state";

// Labels can hold any text; a text that is not a version counts as not known.
gpu::Version version_of(std::string_view label) {
  return gpu::parse_version(label).value_or(gpu::Version{});
}

std::string driver_text(const NodeView& node) {
  const gpu::Inventory& gpu = node.facts.gpu;
  std::string text = gpu.driver.empty() ? "driver not known" : "driver " + gpu.driver;
  if (!gpu.cuda.empty()) text += ", CUDA " + gpu.cuda;
  const std::string_view state = gpu::label_of(node.facts.labels, kUpgradeLabel);
  if (!state.empty() && state != "upgrade-done") {
    text += fmt::format(", {}: {}", kUpgradeLabel, state);
  }
  return text;
}

std::string listed(const std::vector<gpu::TypeName>& types) {
  std::vector<std::string_view> texts;
  for (const gpu::TypeName& type : types) texts.push_back(type.text);
  return fmt::format("{}", fmt::join(texts, ", "));
}

class TypeFilter final : public NodeFilter {
 public:
  explicit TypeFilter(GpuTypeAsk ask)
      : ask_(std::move(ask)),
        reasons_{fmt::format("node(s) had no GPU of type {}", listed(ask_.wishes().types)),
                 "node(s) had GPUs of several types",
                 fmt::format("node(s) had no GPU with {} of memory",
                             gibibytes(ask_.wishes().min_memory)),
                 fmt::format("node(s) had no GPU of compute capability {}",
                             to_string(ask_.wishes().min_compute)),
                 fmt::format("node(s) had no GPU driver of version {} or later",
                             to_string(ask_.wishes().min_driver)),
                 fmt::format("node(s) had no GPU driver for CUDA {} or later",
                             to_string(ask_.wishes().min_cuda))} {}

  Verdict check(const NodeView& node) const override {
    const gpu::Inventory& gpu = node.facts.gpu;
    const auto type = ask_.type_of(gpu);
    if (!type) return Verdict::unresolvable(1U << kOtherType);
    if (gpu.mixed_products) return Verdict::unresolvable(1U << kSeveralTypes);
    if (ask_.memory_of(gpu) < ask_.wishes().min_memory) {
      return Verdict::unresolvable(1U << kTooLittleMemory);
    }
    if (gpu.compute < ask_.wishes().min_compute) return Verdict::unresolvable(1U << kTooOld);
    return driver_verdict(gpu);
  }

  bool reads_usage() const override { return false; }

  const std::vector<std::string>& reasons() const override { return reasons_; }

  std::string numbers(const NodeView& node, unsigned index) const override {
    const gpu::Inventory& gpu = node.facts.gpu;
    const std::string product =
        gpu.product.name.empty() ? "no GPU that a label names" : gpu.product.name;
    switch (index) {
      case kSeveralTypes:
        return fmt::format("{} nvidia.com/gpu, not all of them {}", gpu.gpus, product);
      case kTooLittleMemory:
        return fmt::format(
            "{}: {}", product,
            gpu.labels_awaited ? std::string(gpu::kNotLabelledYet) : in_words(ask_.memory_of(gpu)));
      case kTooOld:
        return fmt::format("{}: {}", product,
                           gpu.compute.is_known() ? to_string(gpu.compute) : "not known");
      case kOldDriver:
      case kOldCuda:
        return driver_text(node);
      default:
        return product;
    }
  }

  std::unique_ptr<Survey> survey() const override { return make_gpu_type_survey(ask_); }

 private:
  [[nodiscard]] Verdict driver_verdict(const gpu::Inventory& gpu) const {
    const gpu::Wishes& wishes = ask_.wishes();
    if (wishes.min_driver.is_known() && version_of(gpu.driver) < wishes.min_driver) {
      return Verdict::unresolvable(1U << kOldDriver);
    }
    if (wishes.min_cuda.is_known() && version_of(gpu.cuda) < wishes.min_cuda) {
      return Verdict::unresolvable(1U << kOldCuda);
    }
    return Verdict::ok();
  }

  static std::string in_words(std::int64_t memory) {
    return memory == 0 ? "memory not known" : gibibytes(memory) + " of memory";
  }

  GpuTypeAsk ask_;
  std::vector<std::string> reasons_;
};

class GpuTypeFilter final : public FilterPlugin {
 public:
  std::string_view name() const override { return "GpuType"; }
  bool enforces_gpu_types() const override { return true; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext& context) const override {
    FilterPreparation preparation;
    preparation.rejection =
        problem_with({gpu::kTypeAnnotation, gpu::kMinMemoryAnnotation, gpu::kMinComputeAnnotation,
                      gpu::kMinDriverAnnotation, gpu::kMinCudaAnnotation},
                     shape.wishes);
    GpuTypeAsk ask(shape, context.resources);
    if (!ask.is_none()) preparation.filter = std::make_unique<TypeFilter>(std::move(ask));
    return preparation;
  }
};

// The earlier a type is listed the more it is worth.
class TypeScore final : public NodeScore {
 public:
  explicit TypeScore(GpuTypeAsk ask) : ask_(std::move(ask)) {}

  std::int64_t score(const NodeView& node) const override {
    const auto type = ask_.type_of(node.facts.gpu);
    const std::size_t behind = type ? ask_.wishes().types.size() - 1 - *type : 0;
    return static_cast<std::int64_t>(behind);
  }

 private:
  GpuTypeAsk ask_;
};

class GpuTypeScore final : public ScorePlugin {
 public:
  std::string_view name() const override { return "GpuType"; }
  std::int64_t max_score() const override { return gpu::Wishes::kMostTypes; }
  bool goes_first() const override { return true; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                     const PrepareContext& context) const override {
    if (shape.wishes.types.size() < 2) return nullptr;
    return std::make_unique<TypeScore>(GpuTypeAsk(shape, context.resources));
  }
};

}  // namespace

PluginInstance make_gpu_type(k8s::yaml::ObjectReader&) {
  return {.filter = std::make_unique<GpuTypeFilter>(), .score = std::make_unique<GpuTypeScore>()};
}

}  // namespace plugins
