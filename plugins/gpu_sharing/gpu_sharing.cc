// GpuSharing: which pods get a piece of a shared GPU.
//
// If GPUs are shared by time-slicing or MPS, a piece of nvidia.com/gpu is one of several pods'
// shares of a GPU, unless the device plugin renames it to nvidia.com/gpu.shared; the same holds for
// MIG instances, nvidia.com/mig-1g.5gb. The annotation gpu-scheduler.io/sharing states what a pod
// may get:
//
//   allowed    a GPU or a replica; a replica is preferred
//   required   a replica only
//   never      a GPU of its own only
//
// `defaultSharing` is for pods without the annotation. If that allows replicas, a GPU or instance
// of its own is preferred, because the pod did not state that it can do with less. A container of
// such a pod that asks for several pieces gets no replicas: two of them are neither two GPUs nor
// twice the share, and all may be of one GPU. A pod that asks for nvidia.com/gpu.shared by name
// gets a replica whatever the default is.
//
// gpu-scheduler.io/gpu-memory states how much memory a pod takes of each GPU or piece that it asks
// for. If pods take turns on a GPU (time-slicing, or unknown sharing), the pods with that
// annotation together take at most what the node's GPUs have; a GPU of its own, an instance or a
// part of MPS must be at least that large. The device plugin decides which GPU a piece is of: so
// the sum is exact if the node has one GPU, and only a total if it has several. Nothing enforces
// that a pod takes no more than it states. It is for pods that ask for nvidia.com/gpu or
// nvidia.com/gpu.shared: of nvidia.com/mig-1g.10gb the name states the memory.
//
// Arguments (GpuSharingArgs):
//   defaultSharing: allowed             or required, or never, for pods without the annotation;
//                                       `required` is for nvidia.com/gpu, not for MIG instances
//   placement: packed                   replicas of the fullest nodes first; or spread
//   failRequestsGreaterThanOne          true if the device plugin is configured so: pods with a
//                                       container that asks for several pieces are kept off,
//                                       because it would fail on the node. Not set: as device
//                                       plugins are by default: NVIDIA's fails them with MPS (from
//                                       v0.15 on), GKE's with time-sharing, and with MPS if the
//                                       node has several GPUs. false: never
#include "plugins/factories.h"
#include "plugins/support/args.h"
#include "plugins/support/gibibytes.h"
#include "plugins/support/share.h"
#include "plugins/support/wish_problems.h"
#include "scheduler/gpu/demand.h"

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
  std::optional<bool> one_only;  // failRequestsGreaterThanOne; nullopt: by the kind of sharing
};

bool is_mig_resource(std::string_view name) { return name.starts_with(gpu::kMigResourcePrefix); }

bool is_shared_resource(std::string_view name) {
  return name == gpu::kSharedResource || (is_mig_resource(name) && name.ends_with(".shared"));
}

enum SharingReason : unsigned {
  kShared,
  kNotShared,
  kSeveral,
  kSeveralUnsaid,
  kTooSmall,
  kTooFull
};

// A pod's request for one resource with pieces that may be shared.
struct Ask {
  // What happens to a container that asks for several pieces.
  enum class Several : std::uint8_t { kServed, kAsTheNodeHasIt, kFailed };

  ResourceId resource{};
  std::string name;
  SharingWish wish = SharingWish::kAllowed;  // as annotated, or the default; never kUnsaid
  bool several_unsaid = false;               // several for one container, without the annotation
  Several several = Several::kServed;

  // Whether the plugin may keep the pod off some nodes.
  [[nodiscard]] bool may_refuse() const {
    return wish != SharingWish::kAllowed || several_unsaid || several != Several::kServed;
  }
};

// The node's instances of that resource; null: there are none.
const gpu::MigInstances* instances_of(const NodeView& node, ResourceId resource) {
  const auto& all = node.facts.gpu.instances;
  const auto found = std::find_if(all.begin(), all.end(), [&](const gpu::MigInstances& each) {
    return each.resource == resource;
  });
  return found == all.end() ? nullptr : &*found;
}

// What a pod takes of its GPUs' memory, in bytes; all zero: not stated.
struct MemoryAsk {
  std::int64_t of_each = 0;
  std::int64_t of_all = 0;  // of all pieces together

  // Whether the pods on a node can together take too much for one more.
  [[nodiscard]] bool may_fill(const gpu::Inventory& gpu) const {
    // A part of MPS is exclusive, as a whole GPU is, and has a fixed size.
    const bool in_turns =
        gpu.sharing == gpu::Sharing::kTimeSlicing || gpu.sharing == gpu::Sharing::kUnknown;
    return of_all > 0 && in_turns;
  }
};

// How many GPUs, or instances, the node's pieces share. It follows from what is offered, and is not
// more than a label counts: with more pieces to a GPU than before, the label of how many there are
// is old for up to a minute. If that number is not known, it is what a label counts, and without
// that one: all pieces may be of the same.
std::int64_t shared_gpus(const gpu::Inventory& gpu) {
  const std::int64_t pieces = saturating_add(gpu.gpus, gpu.shared);
  if (gpu.replicas <= 1) return std::min(pieces, std::max<std::int64_t>(gpu.gpu_count, 1));
  const std::int64_t offered = pieces / gpu.replicas;
  // GKE counts GPUs also where they are partitioned into instances.
  const bool counted = gpu.gpu_count > 0 && gpu.piece != gpu::GpuPiece::kMigInstance;
  return counted ? std::min(offered, gpu.gpu_count) : offered;
}

// The memory of all of them.
std::int64_t shared_memory(const gpu::Inventory& gpu) {
  return saturating_multiply(shared_gpus(gpu), gpu.memory_mib * kMib);
}

class SharingFilter final : public NodeFilter {
 public:
  SharingFilter(std::vector<Ask> asks, MemoryAsk memory)
      : asks_(std::move(asks)),
        memory_(memory),
        reasons_{"node(s) had shared GPUs, which the pod does not accept",
                 "node(s) had no shared GPUs",
                 "node(s) had shared GPUs, of which a pod may ask for one piece only",
                 "node(s) had shared GPUs, of which several pieces are only for pods that say "
                 "gpu-scheduler.io/sharing: allowed",
                 fmt::format("node(s) had no GPU with {} of memory", gibibytes(memory.of_each)),
                 fmt::format("node(s) had shared GPUs with less than {} of memory left",
                             gibibytes(memory.of_all))} {}

  Verdict check(const NodeView& node) const override {
    for (const Ask& ask : asks_) {
      const auto reason = reason_against(ask, node);
      if (reason) return Verdict::unresolvable(1U << *reason);
    }
    if (memory_.of_all == 0) return Verdict::ok();
    const gpu::Inventory& gpu = node.facts.gpu;
    if (gpu.memory_mib * kMib < memory_.of_each) return Verdict::unresolvable(1U << kTooSmall);
    if (memory_.may_fill(gpu) && memory_left(node) < memory_.of_all) {
      return Verdict::unschedulable(1U << kTooFull);
    }
    return Verdict::ok();
  }

  bool reads_usage() const override { return memory_.of_all > 0; }

  const std::vector<std::string>& reasons() const override { return reasons_; }

  std::string numbers(const NodeView& node, unsigned index) const override {
    const gpu::Inventory& gpu = node.facts.gpu;
    if (index == kTooSmall && !gpu.labels_awaited) {
      return gpu.memory_mib == 0 ? "memory not known" : gibibytes(gpu.memory_mib * kMib);
    }
    if (index == kTooFull) {
      return fmt::format("{} of {} left", gibibytes(std::max<std::int64_t>(memory_left(node), 0)),
                         gibibytes(shared_memory(gpu)));
    }
    for (const Ask& ask : asks_) {
      if (reason_against(ask, node) != index) continue;
      if (is_mig_resource(ask.name)) {
        return fmt::format("{}: instances{} shared", ask.name, index == kNotShared ? " not" : "");
      }
      if (index == kNotShared) return fmt::format("{} GPUs, not shared", gpu.gpus);
      break;
    }
    if (gpu.labels_awaited) return std::string(gpu::kNotLabelledYet);
    return fmt::format("{}, {} pieces to a GPU", to_string(gpu.sharing), gpu.replicas);
  }

 private:
  static std::int64_t memory_left(const NodeView& node) {
    return saturating_subtract(shared_memory(node.facts.gpu), node.usage.gpu_memory);
  }

  static std::optional<unsigned> reason_against(const Ask& ask, const NodeView& node) {
    const gpu::Inventory& gpu = node.facts.gpu;
    const gpu::MigInstances* instances =
        is_mig_resource(ask.name) ? instances_of(node, ask.resource) : nullptr;
    const bool shared = is_mig_resource(ask.name) ? instances != nullptr && instances->shared
                                                  : gpu.sharing != gpu::Sharing::kNone;
    if (!shared) {
      if (ask.wish == SharingWish::kRequired) return kNotShared;
      return std::nullopt;
    }
    if (ask.wish == SharingWish::kNever) return kShared;
    const bool fails = ask.several == Ask::Several::kFailed ||
                       (ask.several == Ask::Several::kAsTheNodeHasIt && gpu.one_piece_a_container);
    if (fails) return kSeveral;
    if (ask.several_unsaid) return kSeveralUnsaid;
    return std::nullopt;
  }

  std::vector<Ask> asks_;
  MemoryAsk memory_;
  std::vector<std::string> reasons_;
};

class GpuSharingFilter final : public FilterPlugin {
 public:
  explicit GpuSharingFilter(const Settings& settings) : settings_(settings) {}
  std::string_view name() const override { return "GpuSharing"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext& context) const override {
    FilterPreparation preparation;
    preparation.rejection =
        problem_with({gpu::kSharingAnnotation, gpu::kGpuMemoryAnnotation}, shape.wishes);
    const MemoryAsk memory{.of_each = shape.wishes.gpu_memory, .of_all = shape.gpu_memory};
    if (!preparation.rejection && memory.of_each > 0 && memory.of_all == 0) {
      preparation.rejection =
          fmt::format("{}: the pod asks for no nvidia.com/gpu", gpu::kGpuMemoryAnnotation);
    }
    std::vector<Ask> asks;
    for (const ResourceAmount& request : shape.requests) {
      const std::string& name = context.resources.name(request.resource);
      if (is_shared_resource(name)) {
        if (!preparation.rejection) preparation.rejection = refusal(shape, request, name);
        asks.push_back({.resource = request.resource,
                        .name = name,
                        .several = several_of(shape, request.resource)});
      } else if (request.resource == kNvidiaGpu || is_mig_resource(name)) {
        asks.push_back(ask_of(shape, request.resource, name));
      }
    }
    std::erase_if(asks, [](const Ask& ask) { return !ask.may_refuse(); });
    if (!asks.empty() || memory.of_all > 0) {
      preparation.filter = std::make_unique<SharingFilter>(std::move(asks), memory);
    }
    return preparation;
  }

 private:
  using Several = Ask::Several;

  // A device plugin allocates for one container at a time.
  [[nodiscard]] Several several_of(const PodShape& shape, ResourceId resource) const {
    if (shape.request_of_one_container(resource) <= 1) return Several::kServed;
    if (!settings_.one_only) return Several::kAsTheNodeHasIt;
    return *settings_.one_only ? Several::kFailed : Several::kServed;
  }

  // For nvidia.com/gpu or an instance, which may be shared under that name.
  [[nodiscard]] Ask ask_of(const PodShape& shape, ResourceId resource,
                           const std::string& name) const {
    Ask ask{.resource = resource, .name = name, .several = several_of(shape, resource)};
    const SharingWish said = shape.wishes.sharing;
    ask.wish = said == SharingWish::kUnsaid ? settings_.default_sharing : said;
    if (said != SharingWish::kUnsaid) return ask;
    // The name of an instance states its profile; that it must be shared, too, only the annotation
    // can require.
    if (is_mig_resource(name) && ask.wish == SharingWish::kRequired) {
      ask.wish = SharingWish::kAllowed;
    }
    ask.several_unsaid =
        ask.wish == SharingWish::kAllowed && shape.request_of_one_container(resource) > 1;
    return ask;
  }

  // For resources with a name for shared pieces: why no node can take the pod.
  [[nodiscard]] std::optional<std::string> refusal(const PodShape& shape,
                                                   const ResourceAmount& request,
                                                   const std::string& name) const {
    if (shape.wishes.sharing == SharingWish::kNever) {
      return fmt::format("{}: never, but the pod asks for {}", gpu::kSharingAnnotation, name);
    }
    if (several_of(shape, request.resource) != Several::kFailed) return std::nullopt;
    return fmt::format("asks for {} {}: a pod may ask for one piece of a shared GPU only",
                       request.amount, name);
  }

  Settings settings_;
};

// How full a node's pieces would be with the pod. An exclusive GPU or instance comes before them,
// or after them if the pod prefers replicas.
class SharingScore final : public NodeScore {
 public:
  enum class Of : std::uint8_t { kGpu, kInstance, kReplica };  // by the name of the resource

  SharingScore(ResourceAmount asked, Of of, bool own_gpu_first, bool spread)
      : asked_(asked),
        of_(of),
        own_gpu_(own_gpu_first ? 2 * kMaxScore : 0),
        replica_(own_gpu_first ? 0 : kMaxScore),
        spread_(spread) {}

  std::int64_t score(const NodeView& node) const override {
    if (is_own(node)) return own_gpu_;
    const std::int64_t pieces = node.allocatable(asked_.resource);
    if (pieces <= 0) return 0;
    const std::int64_t taken = std::clamp<std::int64_t>(
        saturating_add(node.requested(asked_.resource), asked_.amount), 0, pieces);
    const std::int64_t full = percentage(taken, pieces);
    return replica_ + (spread_ ? kMaxScore - full : full);
  }

 private:
  [[nodiscard]] bool is_own(const NodeView& node) const {
    if (of_ == Of::kGpu) return node.facts.gpu.sharing == gpu::Sharing::kNone;
    if (of_ == Of::kReplica) return false;
    const gpu::MigInstances* instances = instances_of(node, asked_.resource);
    return instances == nullptr || !instances->shared;
  }

  ResourceAmount asked_;
  Of of_;
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
      const auto of = kind_of(request.resource, context.resources);
      if (!of) continue;
      const bool own_gpu_first =
          *of == SharingScore::Of::kReplica || shape.wishes.sharing == SharingWish::kUnsaid;
      return std::make_unique<SharingScore>(request, *of, own_gpu_first, settings_.spread);
    }
    return nullptr;
  }

 private:
  // nullopt: nothing that can be shared.
  static std::optional<SharingScore::Of> kind_of(ResourceId resource, const ResourceNames& names) {
    const std::string& name = names.name(resource);
    if (resource == kNvidiaGpu) return SharingScore::Of::kGpu;
    if (is_shared_resource(name)) return SharingScore::Of::kReplica;
    if (is_mig_resource(name)) return SharingScore::Of::kInstance;
    return std::nullopt;
  }

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
  return {.filter = std::make_unique<GpuSharingFilter>(settings),
          .score = std::make_unique<GpuSharingScore>(settings)};
}

}  // namespace plugins
