#include "scheduler/quota/charge_class.h"

#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/inventory.h"
#include "scheduler/gpu/labels.h"
#include "scheduler/gpu/resource_kind.h"

#include <algorithm>
#include <string_view>

namespace sched::quota {
namespace {

bool offers_gpus(const Resources& allocatable, const ResourceNames& names) {
  bool offers = false;
  allocatable.for_each([&](ResourceId id, std::int64_t amount) {
    if (id >= kNvidiaGpu && amount > 0) offers = offers || gpu::is_gpu_resource(names.name(id));
  });
  return offers;
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
  sum += GpuShare::gpus(demand.own_names);
  if (demand.milli > 0) sum += GpuShare::one_of(gpu::kMilliPerGpu).times(demand.milli);
  for (const Instances& instances : demand.instances) {
    const GpuShare whole = instance_on(on.product.geometry, instances.profile);
    sum += replica_of(whole, replicas_of(on, instances.profile)).times(instances.count);
  }
  return std::min(sum, GpuShare::gpus(GpuShare::kMostGpus));
}

std::pair<ChargeClass, bool> charge_class_of(const NodeFacts& node, const ResourceNames& names,
                                             const gpu::SiteLabels& site) {
  const gpu::Inventory& gpu = node.gpu;
  const bool offers = node.gpu_devices > 0 || offers_gpus(node.allocatable, names);
  if (gpu.product.name.empty() && !offers) return {ChargeClass{}, false};
  // Where replicas go by their own name, nvidia.com/gpu are whole ones.
  return {ChargeClass{.product = gpu.product,
                      .type_labels = gpu::type_labels_of(labels_with_kept(node), site),
                      .single_profile = gpu.single_profile,
                      .replicas = gpu.shared > 0 ? 1 : gpu.replicas,
                      .shared_replicas = gpu.replicas,
                      .instance_replicas = gpu.instance_replicas},
          true};
}

ChargeClassId ChargeClasses::intern(const NodeFacts& node, const ResourceNames& names,
                                    const gpu::SiteLabels& site) {
  auto [value, has_gpus] = charge_class_of(node, names, site);
  if (!has_gpus) return kNoGpuClass;
  const auto known = std::find(classes_.begin() + 1, classes_.end(), value);
  const auto id = static_cast<ChargeClassId>(known - classes_.begin());
  if (known != classes_.end()) return id;
  classes_.push_back(std::move(value));
  nodes_.push_back(0);
  return id;
}

void ChargeClasses::add_node(ChargeClassId id) {
  if (nodes_[id]++ == 0) ++version_;
}

void ChargeClasses::remove_node(ChargeClassId id) {
  if (--nodes_[id] == 0) ++version_;
}

}  // namespace sched::quota
