// Random API objects from a seed, with every field in use at times, for properties that must hold
// for any object.
#pragma once

#include "k8s-client/api/kinds.h"

#include <random>

namespace k8s::testing {

class RandomObjects {
 public:
  explicit RandomObjects(std::uint64_t seed) : random_(seed) {}

  Pod pod();
  Node node();
  Namespace ns();
  PersistentVolumeClaim claim();
  PersistentVolume volume();
  StorageClass storage_class();
  CsiNode csi_node();
  CsiDriver csi_driver();
  CsiStorageCapacity csi_storage_capacity();
  VolumeAttachment volume_attachment();
  DeviceClass device_class();
  Service service();
  ReplicationController replication_controller();
  ReplicaSet replica_set();
  StatefulSet stateful_set();
  PodDisruptionBudget disruption_budget();
  Lease lease();
  GpuQuota gpu_quota();

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance() { return below(2) == 0; }

  std::string text();  // may be empty, may hold what JSON must escape
  std::string name();  // never empty
  Quantity quantity();
  Timestamp time();
  StringMap map();
  ResourceList resources();
  ObjectMeta metadata();
  SelectorRequirement requirement();
  LabelSelector label_selector();
  NodeSelectorTerm node_term();
  NodeSelector node_selector();
  NodeSelectorTerm topology();
  PodAffinityTerm pod_term();
  PodAffinity pod_affinity();
  NodeAffinity node_affinity();
  TopologySpreadConstraint spread();
  Container container();
  Toleration toleration();
  Volume pod_volume();
  PodCondition condition();
  ContainerStatus container_status();
  Pod::Spec pod_spec();
  GpuQuota::Use quota_use();
  Condition object_condition();

  template <typename Make>
  auto list(Make make) {
    std::vector<decltype(make())> items;
    for (auto count = below(4); count > 0; --count) items.push_back(make());
    return items;
  }
  template <typename Make>
  auto maybe(Make make) {
    std::optional<decltype(make())> value;
    if (chance()) value = make();
    return value;
  }

  std::mt19937_64 random_;
};

}  // namespace k8s::testing
