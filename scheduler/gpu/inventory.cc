#include "scheduler/gpu/inventory.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/devices.h"
#include "scheduler/gpu/health.h"
#include "scheduler/gpu/labels.h"
#include "scheduler/gpu/mig/resource_name.h"
#include "scheduler/gpu/resource_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace sched::gpu {

namespace {

constexpr std::int64_t kMibPerGb = 1'024;
constexpr std::string_view kReplicasSuffix = ".replicas";
constexpr std::string_view kGkeStrategyLabel = "cloud.google.com/gke-gpu-sharing-strategy";
// The largest machines that exist have so many.
constexpr std::int64_t kMostGpusOfAMachine = 16;
// No model can be partitioned into more instances.
constexpr std::int64_t kMostInstances = 7;

// The 10 of "1g.10gb"; 0 when it is not there.
std::int64_t gigabytes_of(std::string_view profile) {
  const std::size_t dot = profile.find('.');
  if (dot == std::string_view::npos) return 0;
  std::int64_t gigabytes = 0;
  std::from_chars(profile.data() + dot + 1, profile.data() + profile.size(), gigabytes);
  return gigabytes;
}

// Pieces of its GPUs, healthy or not: what it offers changes when a GPU fails, or while the device
// plugin restarts.
std::int64_t pieces_of(const Inventory& read) {
  const std::int64_t gpus = std::max(read.gpus, read.capacity.gpus);
  return read.shared == 0 ? gpus : std::max({gpus, read.shared, read.capacity.shared});
}

// How many pieces a GPU has if there are several times as many pieces as GPUs; else 1.
std::int64_t replicas_by_amounts(const Inventory& read) {
  const std::int64_t pieces = pieces_of(read);
  if (read.gpu_count == 0 || pieces % read.gpu_count != 0) return 1;
  return std::clamp<std::int64_t>(pieces / read.gpu_count, 1, kMostReplicas);
}

// What mig-manager has made of all GPUs: the profile that they are partitioned into, or kWhole;
// empty: it is changing them, or not all are alike.
constexpr std::string_view kWhole = "disabled";
constexpr std::string_view kAllWhole = "all-disabled";
std::string_view profile_by_manager(const k8s::StringMap& labels) {
  constexpr std::string_view kAll = "all-";
  std::string_view name = label_of(labels, kMigConfigLabel);
  if (label_of(labels, kMigStateLabel) != "success" || !name.starts_with(kAll)) return {};
  name.remove_prefix(kAll.size());
  return name;
}

class InventoryReader {
 public:
  InventoryReader(const k8s::StringMap& labels, const Resources& allocatable,
                  const ResourceNames& names, const SiteLabels& site, const PieceCounts& capacity)
      : node_labels_(labels),
        site_(site),
        labels_(labels, read_.complaints),
        allocatable_(allocatable),
        names_(names) {
    read_.capacity = capacity;
  }

  Inventory read() && {
    read_product();
    read_counts();
    read_mig();
    read_sharing();
    check_amounts();
    read_instance_replicas();
    read_instances();
    check_missing();
    read_memory();
    read_compute();
    read_.others =
        !read_.has_gpu() && (labels_speak_of_gpus(node_labels_, site_) || offers_accelerators());
    read_.driver = version("nvidia.com/cuda.driver-version.full",
                           {"nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor",
                            "nvidia.com/cuda.driver.rev"});
    read_.cuda = version("nvidia.com/cuda.runtime-version.full",
                         {"nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor"});
    return std::move(read_);
  }

 private:
  template <class... Parts>
  void complain(fmt::format_string<Parts...> format, Parts&&... parts) {
    labels_.complain(fmt::format(format, std::forward<Parts>(parts)...));
  }

  void read_product() {
    const std::string_view label = product_label_of(node_labels_, site_);
    read_product_memory();
    label_ = parse_product(label);
    // Under the strategy `single` the memory is that of an instance, not of the GPU.
    if (label_.mig_profile.empty()) label_ = parse_product(label, product_memory_.value_or(0));
    read_.product = label_.product;
    // In a virtual machine with a part of a GPU, the part's memory follows from its name or from
    // the memory label, never from the memory of the whole board.
    if (labels_.text({"nvidia.com/vgpu.present"}) == "true" && !read_.product.is_part) {
      read_.product.geometry = nullptr;
      read_.product.memory_gb = 0;
    }
  }

  void read_product_memory() {
    const Synonyms labels = {kMemoryLabel, "karpenter.k8s.aws/instance-gpu-memory",
                             "eks.amazonaws.com/instance-gpu-memory"};
    product_memory_ = labels_.number(labels);
    memory_label_ = labels_.key(labels);
    if (product_memory_ == 0) product_memory_.reset();  // the driver does not report it
    for (const std::string& label : site_.memory) {
      if (product_memory_) return;
      product_memory_ = labels_.memory(label);
      memory_label_ = label;
    }
  }

  void read_mig() {
    read_.mig_strategy = one_of("nvidia.com/mig.strategy", {"none", "single", "mixed"});
    one_of(kMigStateLabel, {"success", "pending", "rebooting", "failed"});
    read_.mig_capable = one_of("nvidia.com/mig.capable", {"true", "false"}) == "true";

    const std::string_view partition = labels_.text({kPartitionSizeLabel});
    read_.single_profile = label_.mig_profile.empty() ? partition : label_.mig_profile;
    const std::string& profile = read_.single_profile;
    const auto newer = newer_profile();
    if (newer) {
      complain("label {}: {}, but the product label says {}: {} nvidia.com/gpu count as {}",
               kMigConfigLabel, labels_.text({kMigConfigLabel}), pieces_of_profile(profile),
               pieces(), pieces_of_profile(*newer));
      read_.single_profile = *newer;
      read_.gpu_count = pieces();  // as the label will count them
      product_memory_.reset();     // of what they were before
    }
    if (profile.empty()) return;
    read_.piece = GpuPiece::kMigInstance;
    if (profile == kInvalidProfile) {
      complain(
          "its GPUs are not all partitioned alike, as mig.strategy single requires: none is on "
          "offer");
    } else {
      check_profile(profile);
    }
    if (!partition.empty() && partition != profile) {
      complain("label {}: {}, but the product label says {}", kPartitionSizeLabel, partition,
               profile);
    }
    if (!newer && (read_.mig_strategy == "none" || read_.mig_strategy == "mixed")) {
      complain(
          "label nvidia.com/mig.strategy: {}, but the product label says that nvidia.com/gpu "
          "are MIG instances; they count as such",
          read_.mig_strategy);
    }
  }

  static std::string_view pieces_of_profile(std::string_view profile) {
    return profile.empty() ? "whole GPUs" : profile;
  }

  // The profile that mig-manager has partitioned the GPUs into, empty if they are whole again;
  // nullopt if the product's label says so already, or not as many pieces are there. Under the
  // strategy `single` the device plugin offers new pieces before GPU feature discovery has labelled
  // the node anew, which may take a minute.
  std::optional<std::string_view> newer_profile() const {
    const std::string_view name = profile_by_manager(node_labels_);
    if (name == kWhole) {
      const bool whole = !label_.mig_profile.empty() && pieces() > 0 && counted_gpus() == pieces();
      return whole ? std::optional<std::string_view>("") : std::nullopt;
    }
    const mig::Profile* profile = known(name);
    if (profile == nullptr || name == read_.single_profile) return std::nullopt;
    if (read_.mig_strategy != "single" && !is_single_now(*profile)) return std::nullopt;
    const std::int64_t instances = saturating_multiply(counted_gpus(), profile->max_instances);
    return instances > 0 && instances == pieces() ? std::optional(name) : std::nullopt;
  }

  // Whether the strategy is `single`, although the label still says `mixed`: GPUs that are all
  // partitioned are several nvidia.com/gpu each, and none has the name of its profile.
  bool is_single_now(const mig::Profile& profile) const {
    bool by_profile = false;
    allocatable_.for_each([&](ResourceId id, std::int64_t amount) {
      by_profile = by_profile || (amount > 0 && names_.name(id).starts_with(kMigResourcePrefix));
    });
    return read_.mig_strategy == "mixed" && !by_profile && profile.max_instances > 1 &&
           read_.gpus == pieces();
  }

  // The GPUs that labels count, before they are partitioned; 0: not known.
  std::int64_t counted_gpus() const {
    if (label_.mig_profile.empty()) return read_.gpu_count;
    const mig::Profile* profile = known(label_.mig_profile);
    if (profile == nullptr || read_.gpu_count % profile->max_instances != 0) return 0;
    return read_.gpu_count / profile->max_instances;
  }

  void read_counts() {
    read_.gpu_count =
        labels_
            .number({"nvidia.com/gpu.count", "cloud.google.com/gke-accelerator-count",
                     "karpenter.k8s.aws/instance-gpu-count", "eks.amazonaws.com/instance-gpu-count",
                     "karpenter.azure.com/sku-gpu-count"})
            .value_or(0);
    read_.gpus = offered(kGpuResource);
    read_.shared = offered(kSharedResource);
  }

  void read_sharing() {
    const std::string_view strategy = labels_.text({kSharingLabel, kGkeStrategyLabel});
    const auto replicas = labels_.number(
        {"nvidia.com/gpu.replicas", "cloud.google.com/gke-max-shared-clients-per-gpu"});
    const std::int64_t said = replicas.value_or(1);
    read_.replicas = believable(said);
    // Before v0.15 GPU feature discovery named no strategy, because there was only one.
    const bool renamed = said > 1 && read_.shared > 0;
    const bool old = strategy.empty() && (label_.shared || renamed);
    if (strategy == "time-slicing" || strategy == "time-sharing" || old) {
      read_.sharing = Sharing::kTimeSlicing;
    } else if (strategy == "mps") {
      read_.sharing = Sharing::kMps;
    } else if (label_.shared || said > 1 || read_.shared > 0 ||
               (!strategy.empty() && strategy != "none")) {
      read_.sharing = Sharing::kUnknown;
      complain(
          "it is not clear how its GPUs are shared (sharing-strategy \"{}\", replicas {}, "
          "product label with{} -SHARED, {} nvidia.com/gpu.shared): they count as shared",
          strategy, said, label_.shared ? "" : "out", read_.shared);
    } else {
      return infer_sharing();
    }
    if (read_.piece == GpuPiece::kWholeGpu) {
      read_.piece = GpuPiece::kReplica;
      if (!replicas) read_.replicas = replicas_by_amounts(read_);
    }
    const bool by_gke = labels_.text({kSharingLabel}).empty() && !strategy.empty();
    read_.one_piece_a_container = by_gke ? read_.sharing != Sharing::kMps || read_.gpu_count != 1
                                         : read_.sharing == Sharing::kMps;
    // Zero replicas: all GPUs are in MIG mode, and instances are shared.
    if (said == 1) {
      complain(
          "its GPUs are shared, but label nvidia.com/gpu.replicas does not say by how many; "
          "by its amounts, {} to each",
          read_.replicas);
    }
  }

  // If GPU feature discovery reports that nothing is shared, a multiple of the product's GPUs means
  // GPUs of another model.
  void infer_sharing() {
    const bool denied = denies_sharing(node_labels_);
    const std::int64_t replicas = replicas_by_amounts(read_);
    if (read_.piece != GpuPiece::kWholeGpu || replicas == 1) return;
    if (denied && pieces() <= kMostGpusOfAMachine) return;
    read_.sharing = Sharing::kUnknown;
    read_.piece = GpuPiece::kReplica;
    read_.replicas = replicas;
    complain("it has {} nvidia.com/gpu, but {} {}: they count as shared, {} pieces to each",
             pieces(), read_.gpu_count, product_in_words(), read_.replicas);
  }

  std::int64_t pieces() const { return pieces_of(read_); }

  void check_amounts() {
    if (read_.gpus > 0 && read_.shared > 0) {
      complain("it offers nvidia.com/gpu and nvidia.com/gpu.shared; both count as shared");
    }
    const std::int64_t pieces = std::max(read_.gpus, read_.shared);
    constexpr auto kMost = static_cast<std::int64_t>(kMaxDevices);
    if (pieces / read_.replicas > kMost && read_.piece != GpuPiece::kMigInstance) {
      complain("it offers {} pieces of GPUs, {} to a GPU: more GPUs than any machine has", pieces,
               read_.replicas);
    } else if (pieces > most_pieces()) {
      read_.mixed_products = read_.piece == GpuPiece::kWholeGpu && !read_.product.name.empty();
      complain("it offers {} pieces of GPUs, but has {} {} with {} to each{}", pieces,
               read_.gpu_count, product_in_words(), most_pieces() / read_.gpu_count,
               read_.mixed_products ? ": GPUs of several models, so the product label is not to be "
                                      "relied on"
                                    : "");
    }
  }

  // GPUs that the device plugin has taken out of service, or that are no longer on the PCI bus. A
  // node that offers none at all has no device plugin.
  void check_missing() {
    const std::int64_t pieces = read_.gpus + read_.shared;
    if (read_.gpu_count == 0 || pieces == 0 || may_be_partitioned()) return;
    const std::int64_t missing = most_pieces() - pieces;
    if (missing <= 0 || missing % read_.replicas != 0) return;
    complain("it offers {} of its {} {}: {} missing", read_.gpu_count - missing / read_.replicas,
             read_.gpu_count, product_in_words(), missing / read_.replicas);
  }

  // Whether GPUs may be in MIG mode, and so not among nvidia.com/gpu: under the strategy mixed, a
  // GPU in MIG mode without instances is not offered at all.
  bool may_be_partitioned() const {
    if (read_.piece == GpuPiece::kMigInstance || !read_.instances.empty()) return true;
    return read_.mig_strategy == "mixed" && read_.mig_capable &&
           labels_.text({kMigConfigLabel}) != kAllWhole;
  }

  // The most pieces of nvidia.com/gpu, or of nvidia.com/gpu.shared, by the labels' counts.
  std::int64_t most_pieces() const {
    if (read_.gpu_count == 0) return std::numeric_limits<std::int64_t>::max();
    std::int64_t most = saturating_multiply(read_.gpu_count, read_.replicas);
    // GKE counts GPUs even if they are partitioned.
    if (label_.mig_profile.empty() && read_.piece == GpuPiece::kMigInstance) {
      const mig::Profile* profile = known(read_.single_profile);
      most =
          saturating_multiply(most, profile == nullptr ? kMostInstances : profile->max_instances);
    }
    return most;
  }

  std::string_view product_in_words() const {
    return read_.product.name.empty() ? "GPUs" : std::string_view(read_.product.name);
  }

  // GPU feature discovery gives for each profile how many pods share an instance. The resource's
  // name stays the same unless the device plugin renames it.
  void read_instance_replicas() {
    for (const auto& [key, value] : node_labels_) {
      if (!key.starts_with(kMigResourcePrefix) || !key.ends_with(kReplicasSuffix)) continue;
      const std::string resource = key.substr(0, key.size() - kReplicasSuffix.size());
      const auto parsed = mig::parse_resource(resource);
      const auto replicas = labels_.number({key});
      if (!parsed || !replicas || believable(*replicas) == 1) continue;
      read_.instance_replicas.emplace_back(parsed->profile, *replicas);
    }
  }

  void read_instances() {
    allocatable_.for_each([this](ResourceId id, std::int64_t amount) {
      const std::string& name = names_.name(id);
      if (amount <= 0 || !name.starts_with(kMigResourcePrefix)) return;
      const auto parsed = mig::parse_resource(name);
      if (!parsed) {
        complain("resource {} is not that of a MIG profile, and nothing but its amount counts",
                 name);
        return;
      }
      MigInstances instances{
          .resource = id, .profile = parsed->profile, .pieces = amount, .shared = parsed->shared};
      instances.shared = instances.shared || labels_share(instances.profile);
      // Labels leave ".shared" out.
      const std::string memory = fmt::format("{}{}.memory", kMigResourcePrefix, parsed->profile);
      instances.memory_mib =
          labels_.number({memory}).value_or(gigabytes_of(parsed->profile) * kMibPerGb);
      check_profile(instances.profile);
      if (const mig::Profile* profile = known(instances.profile)) {
        instances.slices = profile->memory_slices;
        check_most(instances, *profile, name);
      }
      read_.instances.push_back(std::move(instances));
    });
    if (!read_.instances.empty() && read_.mig_strategy == "single") {
      complain(
          "it offers nvidia.com/mig-… resources, although label nvidia.com/mig.strategy says "
          "single");
    }
  }

  void check_most(MigInstances& instances, const mig::Profile& profile,
                  const std::string& resource) {
    if (instances.shared || read_.gpu_count == 0) return;
    const std::int64_t most = saturating_multiply(read_.gpu_count, profile.max_instances);
    if (instances.pieces <= most) return;
    instances.shared = true;
    complain("it offers {} {}, but {} {} can hold {} at most: they count as shared",
             instances.pieces, resource, read_.gpu_count, read_.product.name, most);
  }

  // By a number of pods, or by a strategy.
  bool labels_share(const std::string& profile) const {
    const std::string_view strategy =
        labels_.text({fmt::format("{}{}.sharing-strategy", kMigResourcePrefix, profile)});
    if (!strategy.empty() && strategy != "none") return true;
    return std::any_of(read_.instance_replicas.begin(), read_.instance_replicas.end(),
                       [&](const auto& each) { return each.first == profile; });
  }

  // How many pods share a GPU or an instance: at least one.
  std::int64_t believable(std::int64_t replicas) {
    if (replicas <= kMostReplicas) return std::max<std::int64_t>(replicas, 1);
    complain("labels say that {} pods share a GPU; it counts as if that were not said", replicas);
    return 1;
  }

  void read_memory() {
    const std::int64_t marketed = read_.piece == GpuPiece::kMigInstance
                                      ? gigabytes_of(read_.single_profile)
                                      : read_.product.memory_gb;
    read_.memory_mib = product_memory_.value_or(marketed * kMibPerGb);
    const double said = static_cast<double>(read_.memory_mib);
    const double known = static_cast<double>(marketed * kMibPerGb);
    if (marketed > 0 && read_.gpus > 0 && (said < 0.8 * known || said > 1.1 * known)) {
      complain("label {}: {} MiB, but {} has {} GB; the lesser counts", memory_label_,
               read_.memory_mib, read_.product.name, marketed);
      read_.memory_mib = std::min(read_.memory_mib, marketed * kMibPerGb);
    }
    if (read_.sharing != Sharing::kMps) return;
    // A part is at most half of a GPU; how much, only the number of parts says.
    read_.memory_mib = read_.replicas > 1 ? read_.memory_mib / read_.replicas : 0;
  }

  void read_compute() {
    const auto major = labels_.number({"nvidia.com/gpu.compute.major"});
    const auto minor = labels_.number({"nvidia.com/gpu.compute.minor"});
    if (read_.product.gpu_class != nullptr) read_.compute = read_.product.gpu_class->compute;
    if (!major) return;
    const Capability said{.major = static_cast<std::int32_t>(*major),
                          .minor = static_cast<std::int32_t>(minor.value_or(0))};
    if (read_.compute.is_known() && said != read_.compute) {
      complain(
          "label nvidia.com/gpu.compute.major and .minor: {}, but {} has {}; the lesser counts",
          to_string(said), read_.product.name, to_string(read_.compute));
      read_.compute = std::min(said, read_.compute);
    } else {
      read_.compute = said;
    }
  }

  // Before v0.14 GPU feature discovery wrote only its parts, each in a label of its own.
  std::string version(std::string_view whole, std::initializer_list<std::string_view> parts) const {
    std::string text(labels_.text({whole}));
    if (!text.empty()) return text;
    for (const std::string_view part : parts) {
      const std::string_view value = labels_.text({part});
      if (value.empty()) break;
      text += text.empty() ? std::string(value) : fmt::format(".{}", value);
    }
    return text;
  }

  bool offers_accelerators() const {
    bool offers = false;
    allocatable_.for_each([&](ResourceId id, std::int64_t amount) {
      offers = offers || (amount > 0 && is_accelerator(names_.name(id)));
    });
    return offers;
  }

  // The value of a label that has one of a few values; empty: it has none of them.
  std::string one_of(std::string_view label, std::initializer_list<std::string_view> values) {
    const std::string_view value = labels_.text({label});
    if (value.empty() || std::find(values.begin(), values.end(), value) != values.end()) {
      return std::string(value);
    }
    complain("label {}: \"{}\" is none of its values ({})", label, value, fmt::join(values, ", "));
    return {};
  }

  // Null if the model's geometry is not known, or has no such profile.
  const mig::Profile* known(std::string_view profile) const {
    const mig::Geometry* geometry = read_.product.geometry;
    return geometry == nullptr ? nullptr : geometry->find(profile);
  }

  void check_profile(std::string_view profile) {
    if (read_.product.geometry == nullptr || known(profile) != nullptr) return;
    complain("{} is no MIG profile of {}", profile, read_.product.name);
  }

  // Negative amounts count as zero.
  std::int64_t offered(std::string_view resource) {
    const auto id = names_.find(resource);
    const std::int64_t amount = id ? allocatable_.get(*id) : 0;
    if (amount < 0) complain("it offers {} {}", amount, resource);
    return std::max<std::int64_t>(amount, 0);
  }

  Inventory read_;
  const k8s::StringMap& node_labels_;
  const SiteLabels& site_;
  LabelReader labels_;
  const Resources& allocatable_;
  const ResourceNames& names_;
  ProductLabel label_;
  std::optional<std::int64_t> product_memory_;  // MiB
  std::string_view memory_label_;               // where it is from
};

}  // namespace

std::string_view to_string(Sharing sharing) {
  switch (sharing) {
    case Sharing::kNone:
      return "not shared";
    case Sharing::kTimeSlicing:
      return "time-slicing";
    case Sharing::kMps:
      return "MPS";
    case Sharing::kUnknown:
      return "shared";
  }
  return {};
}

std::string platform_of(const Inventory& inventory) {
  std::vector<std::string> parts;
  if (!inventory.product.name.empty()) parts.push_back(inventory.product.name);
  if (!inventory.driver.empty()) parts.push_back("driver " + inventory.driver);
  if (!inventory.cuda.empty()) parts.push_back("CUDA " + inventory.cuda);
  return fmt::format("{}", fmt::join(parts, ", "));
}

Inventory inventory_of(const k8s::StringMap& labels, const Resources& allocatable,
                       const ResourceNames& names, const SiteLabels& site,
                       const PieceCounts& capacity) {
  return InventoryReader(labels, allocatable, names, site, capacity).read();
}

void await_labels(Inventory& inventory, const k8s::StringMap& labels) {
  inventory.labels_awaited = true;
  inventory.sharing = Sharing::kUnknown;
  // Instances of another profile now.
  const bool were_instances = inventory.piece == GpuPiece::kMigInstance;
  inventory.piece = were_instances ? GpuPiece::kMigInstance : GpuPiece::kReplica;
  inventory.single_profile.clear();
  inventory.replicas = replicas_by_amounts(inventory);
  // It may be a part of MPS.
  inventory.memory_mib = 0;
  inventory.one_piece_a_container = true;
  inventory.mixed_products = false;
  inventory.complaints.clear();
  const std::string_view profile = profile_by_manager(labels);
  const bool may_be_single = inventory.mig_strategy.empty() || inventory.mig_strategy == "single";
  if (!may_be_single || !inventory.instances.empty()) return;
  const std::string_view config = label_of(labels, kMigConfigLabel);
  if (mig::parse_resource(fmt::format("{}{}", kMigResourcePrefix, profile))) {
    inventory.piece = GpuPiece::kMigInstance;
    inventory.single_profile = profile;
  } else if (!config.empty() && config != kAllWhole) {
    // A configuration with a name of the site's own.
    inventory.piece = GpuPiece::kMigInstance;
  }
}

}  // namespace sched::gpu
