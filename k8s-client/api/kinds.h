// All kinds of objects. One that is named here can be decoded, encoded, listed and watched.
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

// DO(Pod); DO(Node); … to instantiate a template for each kind, which cannot be done for a list of
// types.
#define K8S_EACH_WATCHED_KIND(DO) \
  DO(Pod);                        \
  DO(Node);                       \
  DO(Namespace);                  \
  DO(PersistentVolumeClaim);      \
  DO(PersistentVolume);           \
  DO(StorageClass);               \
  DO(CsiNode);                    \
  DO(CsiDriver);                  \
  DO(CsiStorageCapacity);         \
  DO(VolumeAttachment);           \
  DO(DeviceClass);                \
  DO(Service);                    \
  DO(ReplicationController);      \
  DO(ReplicaSet);                 \
  DO(StatefulSet);                \
  DO(PodDisruptionBudget);        \
  DO(GpuQuota)
// The others are read one by one.
#define K8S_EACH_KIND(DO)    \
  K8S_EACH_WATCHED_KIND(DO); \
  DO(Lease);                 \
  DO(ConfigMap)
