// Services, and the controllers that own pods by a selector, for one purpose: to find which other
// pods belong with a pod.
#pragma once

#include "k8s-client/api/meta.h"
#include "k8s-client/api/selector.h"

#include <optional>

namespace k8s {

// corev1.Service.
struct Service {
  ObjectMeta metadata;
  StringMap selector;  // empty: it selects no pods
  friend bool operator==(const Service&, const Service&) = default;
};

// corev1.ReplicationController.
struct ReplicationController {
  ObjectMeta metadata;
  StringMap selector;
  friend bool operator==(const ReplicationController&, const ReplicationController&) = default;
};

// appsv1.ReplicaSet.
struct ReplicaSet {
  ObjectMeta metadata;
  std::optional<LabelSelector> selector;
  friend bool operator==(const ReplicaSet&, const ReplicaSet&) = default;
};

// appsv1.StatefulSet.
struct StatefulSet {
  ObjectMeta metadata;
  std::optional<LabelSelector> selector;
  friend bool operator==(const StatefulSet&, const StatefulSet&) = default;
};

}  // namespace k8s
