// Readers of whole objects and of parts that several kinds share; one .cc file per kind.
#pragma once

#include "k8s-client/api/decode/json_value.h"
#include "k8s-client/api/kinds.h"
#include "k8s-client/api/selector.h"

namespace k8s::json {

bool read(JsonValue value, ObjectMeta& out);
bool read(JsonValue value, ResourceList& out);
bool read(JsonValue value, TaintEffect& out);

bool read(JsonValue value, LabelSelector& out);
bool read(JsonValue value, NodeSelectorTerm& out);
bool read(JsonValue value, NodeSelector& out);

// The three kinds of affinity of a pod's spec.affinity.
bool read_affinity(JsonValue value, Pod::Spec& out);
bool read(JsonValue value, TopologySpreadConstraint& out);

bool read(JsonValue value, Pod::Spec& out);
bool read(JsonValue value, Pod::Status& out);

bool read(JsonValue value, Pod& out);
bool read(JsonValue value, Node& out);
bool read(JsonValue value, Namespace& out);
bool read(JsonValue value, PersistentVolumeClaim& out);
bool read(JsonValue value, PersistentVolume& out);
bool read(JsonValue value, StorageClass& out);
bool read(JsonValue value, CsiNode& out);
bool read(JsonValue value, CsiDriver& out);
bool read(JsonValue value, CsiStorageCapacity& out);
bool read(JsonValue value, VolumeAttachment& out);
bool read(JsonValue value, DeviceClass& out);
bool read(JsonValue value, Service& out);
bool read(JsonValue value, ReplicationController& out);
bool read(JsonValue value, ReplicaSet& out);
bool read(JsonValue value, StatefulSet& out);
bool read(JsonValue value, PodDisruptionBudget& out);
bool read(JsonValue value, GpuQuota& out);
bool read(JsonValue value, Lease& out);
bool read(JsonValue value, ConfigMap& out);

}  // namespace k8s::json
