#include "scheduler/quota/charge_class.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/inventory.h"
#include "scheduler/gpu/labels.h"
#include "scheduler/gpu/type_labels.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace sched::quota {
namespace {

constexpr std::string_view kReplicasLabel = "nvidia.com/gpu.replicas";
constexpr std::string_view kReplicasSuffix = ".replicas";

// A count in a label; 1 where it says none, or nothing that makes sense.
std::int64_t number_of(const std::string* label) {
  constexpr std::int64_t kMostReplicas = 1'024;
  std::int64_t number = 1;
  if (label != nullptr) std::from_chars(label->data(), label->data() + label->size(), number);
  return number < 1 || number > kMostReplicas ? 1 : number;
}

bool offers_gpus(const Resources& allocatable, const ResourceNames& names) {
  if (allocatable.get(kNvidiaGpu) > 0) return true;
  for (auto i = static_cast<std::size_t>(kNvidiaGpu) + 1; i < allocatable.size(); ++i) {
    const auto id = static_cast<ResourceId>(i);
    if (allocatable.get(id) > 0 && names.name(id).starts_with("nvidia.com/")) return true;
  }
  return false;
}

// One instance; a whole GPU where the model or its profile is not known.
GpuShare instance_on(const gpu::mig::Geometry* geometry, std::string_view profile) {
  const gpu::mig::Profile* known = geometry == nullptr ? nullptr : geometry->find(profile);
  if (known == nullptr) return GpuShare::gpus(1);
  return GpuShare::one_of(geometry->slices).times(known->memory_slices);
}

// One of `replicas` that share it, rounded up.
GpuShare replica_of(GpuShare whole, std::int64_t replicas) {
  if (replicas <= 1) return whole;
  const std::int64_t rounded_up = (whole.units() + replicas - 1) / replicas;
  return GpuShare::one_of(GpuShare::kUnitsPerGpu).times(rounded_up);
}

std::int64_t replicas_of(const ChargeClass& on, const std::string& profile) {
  for (const auto& [name, replicas] : on.instance_replicas) {
    if (name == profile) return replicas;
  }
  return 1;
}

}  // namespace

GpuShare charge_of(const Demand& demand, const ChargeClass& on) {
  GpuShare sum;
  if (demand.gpus > 0) {
    const GpuShare piece = on.single_profile.empty()
                               ? GpuShare::gpus(1)
                               : instance_on(on.product.geometry, on.single_profile);
    sum += replica_of(piece, on.replicas).times(demand.gpus);
  }
  if (demand.shared > 0) {
    sum += replica_of(GpuShare::gpus(1), on.shared_replicas).times(demand.shared);
  }
  if (demand.milli > 0) sum += GpuShare::one_of(gpu::kMilliPerGpu).times(demand.milli);
  for (const Instances& instances : demand.instances) {
    const GpuShare whole = instance_on(on.product.geometry, instances.profile);
    sum += replica_of(whole, replicas_of(on, instances.profile)).times(instances.count);
  }
  return std::min(sum, GpuShare::gpus(GpuShare::kMostGpus));
}

std::pair<ChargeClass, bool> charge_class_of(const NodeFacts& node, const ResourceNames& names) {
  ChargeClass made{.product = node.gpu.product, .type_labels = gpu::type_labels_of(node.labels)};
  const std::string_view label = gpu::product_label_of(node.labels);
  const bool offers = node.gpu_devices > 0 || offers_gpus(node.allocatable, names);
  if (label.empty() && !offers) return {ChargeClass{}, false};

  const gpu::ProductLabel product = gpu::parse_product(label);
  made.single_profile = product.mig_profile;
  const std::int64_t replicas = number_of(node.labels.find(kReplicasLabel));
  // Shared GPUs go by their own resource name, or by that of whole ones.
  const auto shared = names.find(gpu::kSharedResource);
  const bool renamed = shared && node.allocatable.get(*shared) > 0;
  made.shared_replicas = replicas;
  made.replicas = renamed && !product.shared ? 1 : replicas;
  for (const auto& [key, value] : node.labels) {
    if (!key.starts_with(gpu::kMigResourcePrefix) || !key.ends_with(kReplicasSuffix)) continue;
    std::string_view profile = key;
    profile.remove_prefix(gpu::kMigResourcePrefix.size());
    profile.remove_suffix(kReplicasSuffix.size());
    if (const std::int64_t of_profile = number_of(&value); of_profile > 1) {
      made.instance_replicas.emplace_back(profile, of_profile);
    }
  }
  return {std::move(made), true};
}

ClassId ChargeClasses::intern(const NodeFacts& node, const ResourceNames& names) {
  auto [value, has_gpus] = charge_class_of(node, names);
  if (!has_gpus) return kNoGpuClass;
  const auto known = std::find(classes_.begin() + 1, classes_.end(), value);
  const auto id = static_cast<ClassId>(known - classes_.begin());
  if (known != classes_.end()) return id;
  classes_.push_back(std::move(value));
  nodes_.push_back(0);
  return id;
}

void ChargeClasses::add_node(ClassId id) {
  if (nodes_[id]++ == 0) ++version_;
}

void ChargeClasses::remove_node(ClassId id) {
  if (--nodes_[id] == 0) ++version_;
}

}  // namespace sched::quota
