#include "tests/k8s-client/api/random_objects.h"

#include <array>
#include <chrono>
#include <utility>

namespace k8s::testing {

std::string RandomObjects::text() {
  static const std::array<std::string, 8> kTexts = {"",
                                                    "a",
                                                    "nvidia.com/gpu",
                                                    "x y",
                                                    "quote\" back\\slash",
                                                    "line\nend\ttab",
                                                    "\x01\x7f",
                                                    "Gr\u00fc\u00dfe \U0001F600"};
  return kTexts[below(kTexts.size())];
}

std::string RandomObjects::name() { return "n" + std::to_string(below(1000)); }

Quantity RandomObjects::quantity() {
  switch (below(4)) {
    case 0:
      return Quantity::of(static_cast<std::int64_t>(random_()));
    case 1:
      return Quantity::of_milli(static_cast<std::int64_t>(random_()));
    case 2:
      return Quantity::parse(std::to_string(random_()) + "n").value();
    default:
      return Quantity::of(static_cast<std::int64_t>(below(16)));
  }
}

Timestamp RandomObjects::time() {
  constexpr std::uint64_t kYears = 300ULL * 366 * 86'400 * 1'000'000;
  const auto micros = static_cast<std::int64_t>(below(kYears));
  const Timestamp time{std::chrono::microseconds(micros)};
  return chance() ? std::chrono::floor<std::chrono::seconds>(time) : time;
}

StringMap RandomObjects::map() {
  return StringMap(list([&] { return StringMap::Entry(text(), text()); }));
}

ResourceList RandomObjects::resources() {
  static const std::array<std::string, 4> kNames = {"cpu", "memory", "nvidia.com/gpu", "pods"};
  ResourceList list;
  for (const auto& resource : kNames) {
    if (chance()) list.emplace_back(resource, quantity());
  }
  return list;
}

ObjectMeta RandomObjects::metadata() {
  ObjectMeta meta;
  meta.name = name();
  meta.namespace_ = text();
  meta.uid = text();
  meta.resource_version = text();
  meta.generation = static_cast<std::int64_t>(below(3));
  meta.labels = map();
  meta.annotations = map();
  meta.creation_timestamp = maybe([&] { return time(); });
  meta.deletion_timestamp = maybe([&] { return time(); });
  meta.owner_references = list([&] {
    return OwnerReference{text(), text(), text(), text(), chance()};
  });
  return meta;
}

SelectorRequirement RandomObjects::requirement() {
  const auto op = static_cast<SelectorOperator>(below(7));
  return {text(), op, list([&] { return text(); })};
}

LabelSelector RandomObjects::label_selector() {
  return {map(), list([&] { return requirement(); })};
}

NodeSelectorTerm RandomObjects::node_term() {
  return {list([&] { return requirement(); }), list([&] { return requirement(); })};
}

NodeSelector RandomObjects::node_selector() {
  NodeSelector made;
  for (NodeSelectorTerm& term : list([&] { return node_term(); })) made.add(std::move(term));
  return made;
}

PodAffinityTerm RandomObjects::pod_term() {
  PodAffinityTerm term;
  term.label_selector = maybe([&] { return label_selector(); });
  term.namespaces = list([&] { return text(); });
  term.namespace_selector = maybe([&] { return label_selector(); });
  term.topology_key = text();
  term.match_label_keys = list([&] { return text(); });
  term.mismatch_label_keys = list([&] { return text(); });
  return term;
}

PodAffinity RandomObjects::pod_affinity() {
  const auto weighted = [&] {
    return WeightedPodAffinityTerm{static_cast<std::int32_t>(below(101)), pod_term()};
  };
  return {list([&] { return pod_term(); }), list(weighted)};
}

NodeAffinity RandomObjects::node_affinity() {
  const auto weighted = [&] {
    return PreferredNodeTerm{static_cast<std::int32_t>(below(101)), node_term()};
  };
  NodeAffinity affinity;
  affinity.required = maybe([&] { return node_selector(); });
  affinity.preferred = list(weighted);
  std::erase_if(affinity.preferred, [](const auto& each) { return each.preference.empty(); });
  return affinity;
}

TopologySpreadConstraint RandomObjects::spread() {
  TopologySpreadConstraint constraint;
  constraint.max_skew = static_cast<std::int32_t>(below(5));
  constraint.topology_key = text();
  constraint.do_not_schedule = chance();
  constraint.label_selector = maybe([&] { return label_selector(); });
  constraint.min_domains = maybe([&] { return static_cast<std::int32_t>(below(5)); });
  constraint.node_affinity_honor = chance();
  constraint.node_taints_honor = chance();
  constraint.match_label_keys = list([&] { return text(); });
  return constraint;
}

Container RandomObjects::container() {
  Container container;
  container.name = name();
  container.image = text();
  container.requests = resources();
  container.limits = resources();
  container.ports = list([&] {
    return ContainerPort{static_cast<std::int32_t>(1 + below(65535)), text(), text()};
  });
  container.restart_always = chance();
  container.restarts_all_containers = chance();
  return container;
}

Toleration RandomObjects::toleration() {
  Toleration toleration;
  toleration.key = text();
  toleration.op = static_cast<TolerationOperator>(below(5));
  toleration.value = text();
  toleration.effect = maybe([&] { return static_cast<TaintEffect>(below(4)); });
  return toleration;
}

Volume RandomObjects::pod_volume() {
  static const std::array<std::string, 7> kDisks = {
      "awsElasticBlockStore", "azureDisk", "cinder", "gcePersistentDisk", "iscsi",
      "portworxVolume",       "rbd"};
  switch (below(4)) {
    case 0:
      return {name(), Volume::Kind::kPersistentVolumeClaim, text(), "persistentVolumeClaim"};
    case 1:
      return {name(), Volume::Kind::kEphemeral, "", "ephemeral"};
    case 2:
      return {name(), Volume::Kind::kUnknown, "", "aSourceOfTomorrow"};
    default:
      Volume volume{name(), Volume::Kind::kDisk, "", kDisks[below(kDisks.size())]};
      volume.disk.id = text();
      volume.disk.read_only = chance();
      if (volume.source == "rbd") {
        volume.disk.monitors = list([&] { return text(); });
        volume.disk.pool = text();
      }
      return volume;
  }
}

PodCondition RandomObjects::condition() {
  return {text(), text(), text(), text(), static_cast<std::int64_t>(below(3))};
}

ContainerStatus RandomObjects::container_status() {
  ContainerStatus status;
  status.name = name();
  status.allocated_resources = maybe([&] { return resources(); });
  status.requests = maybe([&] { return resources(); });
  return status;
}

Pod::Spec RandomObjects::pod_spec() {
  Pod::Spec spec;
  spec.scheduler_name = text();
  spec.node_name = text();
  spec.priority = static_cast<std::int32_t>(random_());
  spec.priority_class_name = text();
  spec.preemption_policy = text();
  spec.init_containers = list([&] { return container(); });
  spec.containers = list([&] { return container(); });
  spec.resource_requests = maybe([&] { return resources(); });
  spec.resource_limits = maybe([&] { return resources(); });
  spec.overhead = resources();
  spec.node_selector = map();
  spec.node_affinity = maybe([&] { return node_affinity(); });
  spec.pod_affinity = maybe([&] { return pod_affinity(); });
  spec.pod_anti_affinity = maybe([&] { return pod_affinity(); });
  spec.tolerations = list([&] { return toleration(); });
  spec.topology_spread_constraints = list([&] { return spread(); });
  spec.scheduling_gates = list([&] { return text(); });
  spec.volumes = list([&] { return pod_volume(); });
  spec.image_volumes = list([&] { return text(); });
  spec.resource_claims = list([&] { return PodResourceClaim{text()}; });
  spec.host_network = chance();
  spec.user_namespace = chance();
  return spec;
}

Pod RandomObjects::pod() {
  Pod pod;
  pod.metadata = metadata();
  pod.spec = pod_spec();
  pod.status.phase = static_cast<PodPhase>(below(5));
  pod.status.reason = text();
  pod.status.start_time = maybe([&] { return time(); });
  pod.status.nominated_node_name = text();
  pod.status.resource_requests = maybe([&] { return resources(); });
  pod.status.allocated_resources = maybe([&] { return resources(); });
  pod.status.conditions = list([&] { return condition(); });
  pod.status.init_container_statuses = list([&] { return container_status(); });
  pod.status.container_statuses = list([&] { return container_status(); });
  return pod;
}

Node RandomObjects::node() {
  Node node;
  node.metadata = metadata();
  node.spec.unschedulable = chance();
  node.spec.taints = list([&] {
    return Taint{text(), text(), static_cast<TaintEffect>(below(4))};
  });
  node.status.capacity = resources();
  node.status.allocatable = resources();
  node.status.conditions = list([&] { return NodeCondition{text(), text(), text()}; });
  node.status.declared_features = list([&] { return text(); });
  node.status.images = list([&] {
    return ContainerImage{list([&] { return text(); }), static_cast<std::int64_t>(below(3))};
  });
  return node;
}

Namespace RandomObjects::ns() { return {metadata()}; }

PersistentVolumeClaim RandomObjects::claim() {
  PersistentVolumeClaim claim;
  claim.metadata = metadata();
  claim.volume_name = text();
  claim.storage_class = text();
  claim.volume_attributes_class = text();
  claim.volume_mode = text();
  claim.access_modes = list([&] { return text(); });
  claim.requested_bytes = maybe([&] { return quantity().value(); });
  claim.selector = maybe([&] { return label_selector(); });
  claim.phase = text();
  return claim;
}

PersistentVolume RandomObjects::volume() {
  PersistentVolume volume;
  volume.metadata = metadata();
  volume.node_affinity = maybe([&] { return node_selector(); });
  volume.claim_ref = maybe([&] { return ClaimReference{text(), text(), text()}; });
  volume.storage_class = text();
  volume.volume_attributes_class = text();
  volume.volume_mode = text();
  volume.access_modes = list([&] { return text(); });
  volume.capacity_bytes = maybe([&] { return quantity().value(); });
  volume.csi_driver = text();
  volume.csi_volume_handle = text();
  static const std::array<std::string, 5> kDisks = {"awsElasticBlockStore", "azureDisk", "cinder",
                                                    "gcePersistentDisk", "portworxVolume"};
  volume.in_tree_disk = maybe([&] { return InTreeDisk{kDisks[below(kDisks.size())], text()}; });
  volume.phase = text();
  return volume;
}

NodeSelectorTerm RandomObjects::topology() {
  const auto values = [&] { return list([&] { return text(); }); };
  const auto one_of = [&] { return SelectorRequirement{text(), SelectorOperator::kIn, values()}; };
  return {list(one_of), {}};
}

StorageClass RandomObjects::storage_class() {
  StorageClass made{metadata(), text(), maybe([&] { return text(); }), {}};
  const auto terms = list([&] { return topology(); });
  if (!terms.empty()) made.allowed_topologies = NodeSelector{terms};
  return made;
}

CsiNode RandomObjects::csi_node() {
  const auto count = [&] { return static_cast<std::int32_t>(random_()); };
  return {metadata(), list([&] { return CsiNode::Driver{text(), maybe(count)}; })};
}

CsiDriver RandomObjects::csi_driver() { return {metadata(), chance(), chance()}; }

CsiStorageCapacity RandomObjects::csi_storage_capacity() {
  const auto bytes = [&] { return quantity().value(); };
  CsiStorageCapacity capacity;
  capacity.metadata = metadata();
  capacity.storage_class = text();
  capacity.node_topology = maybe([&] { return label_selector(); });
  capacity.capacity_bytes = maybe(bytes);
  capacity.maximum_volume_bytes = maybe(bytes);
  return capacity;
}

VolumeAttachment RandomObjects::volume_attachment() {
  VolumeAttachment attachment;
  attachment.metadata = metadata();
  attachment.attacher = text();
  attachment.node = text();
  attachment.volume = text();
  return attachment;
}

DeviceClass RandomObjects::device_class() { return {metadata(), text()}; }

Service RandomObjects::service() { return {metadata(), map()}; }
ReplicationController RandomObjects::replication_controller() { return {metadata(), map()}; }
ReplicaSet RandomObjects::replica_set() {
  return {metadata(), maybe([&] { return label_selector(); })};
}
StatefulSet RandomObjects::stateful_set() {
  return {metadata(), maybe([&] { return label_selector(); })};
}
PodDisruptionBudget RandomObjects::disruption_budget() {
  PodDisruptionBudget budget;
  budget.metadata = metadata();
  budget.selector = maybe([&] { return label_selector(); });
  budget.disruptions_allowed = static_cast<std::int32_t>(below(5)) - 1;
  for (const auto& [key, value] : map()) budget.disrupted_pods.push_back(key);
  return budget;
}

Lease RandomObjects::lease() {
  Lease lease;
  lease.metadata = metadata();
  lease.spec = {.holder_identity = text(),
                .lease_duration_seconds = static_cast<std::int32_t>(below(100)),
                .acquire_time = maybe([&] { return time(); }),
                .renew_time = maybe([&] { return time(); }),
                .lease_transitions = static_cast<std::int32_t>(below(100))};
  return lease;
}

GpuQuota::Use RandomObjects::quota_use() {
  return {quantity(), quantity(), quantity(), quantity(), quantity()};
}

Condition RandomObjects::object_condition() {
  return {.type = text(),
          .status = text(),
          .observed_generation = static_cast<std::int64_t>(below(3)),
          .last_transition_time = maybe([&] { return time(); }),
          .reason = text(),
          .message = text()};
}

GpuQuota RandomObjects::gpu_quota() {
  GpuQuota quota;
  quota.metadata = metadata();
  quota.spec = {.namespaces = list([&] { return text(); }),
                .namespace_selector = maybe([&] { return label_selector(); }),
                .cohort = text(),
                .parent = text(),
                .weight = maybe([&] { return static_cast<std::int64_t>(below(9)); }),
                .quotas = list([&] {
                  return GpuQuota::Line{text(), quantity(), maybe([&] { return quantity(); }),
                                        maybe([&] { return quantity(); })};
                }),
                .max_gpus_per_pod = maybe([&] { return quantity(); }),
                .order = static_cast<GpuQuota::Order>(below(3))};
  quota.status = maybe([&] {
    return GpuQuota::Status{.observed_generation = static_cast<std::int64_t>(below(3)),
                            .total = quota_use(),
                            .quotas = list([&] {
                              return GpuQuota::LineStatus{text(), quota_use()};
                            }),
                            .conditions = list([&] { return object_condition(); })};
  });
  return quota;
}

}  // namespace k8s::testing
