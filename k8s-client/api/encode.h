// Plain structs to JSON that Kubernetes, and the decoder here, read as the same object.
//
// decode(encode(x)) == x holds for every struct of this folder that decode() can return. (It never
// returns, for example, a claim with a class that differs from its old annotation.)
#pragma once

#include "k8s-client/api/config_map.h"
#include "k8s-client/api/controllers.h"
#include "k8s-client/api/device_class.h"
#include "k8s-client/api/disruption_budget.h"
#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/lease.h"
#include "k8s-client/api/namespace.h"
#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/storage.h"

#include <string>

namespace k8s {

[[nodiscard]] std::string encode(const Pod& pod);
[[nodiscard]] std::string encode(const Node& node);
[[nodiscard]] std::string encode(const Namespace& ns);
[[nodiscard]] std::string encode(const PersistentVolumeClaim& claim);
[[nodiscard]] std::string encode(const PersistentVolume& volume);
[[nodiscard]] std::string encode(const StorageClass& storage_class);
[[nodiscard]] std::string encode(const CsiNode& node);
[[nodiscard]] std::string encode(const CsiDriver& driver);
[[nodiscard]] std::string encode(const CsiStorageCapacity& capacity);
[[nodiscard]] std::string encode(const VolumeAttachment& attachment);
[[nodiscard]] std::string encode(const DeviceClass& device_class);
[[nodiscard]] std::string encode(const Service& service);
[[nodiscard]] std::string encode(const ReplicationController& controller);
[[nodiscard]] std::string encode(const ReplicaSet& set);
[[nodiscard]] std::string encode(const StatefulSet& set);
[[nodiscard]] std::string encode(const PodDisruptionBudget& budget);
[[nodiscard]] std::string encode(const Lease& lease);
[[nodiscard]] std::string encode(const GpuQuota& quota);
[[nodiscard]] std::string encode(const ConfigMap& map);

}  // namespace k8s
