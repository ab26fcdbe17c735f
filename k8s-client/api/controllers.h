// Services, and the controllers that own pods by a selector, for one purpose: to find which other
// pods belong with a pod.
#pragma once

#include "k8s-client/api/kind.h"
#include "k8s-client/api/meta.h"
#include "k8s-client/api/selector.h"

#include <optional>

namespace k8s {

struct Service {
  static constexpr ObjectKind kKind{"Service", "v1", "services", kNamespaced};
  ObjectMeta metadata;
  StringMap selector;  // empty: it selects no pods
  friend bool operator==(const Service&, const Service&) = default;
};

struct ReplicationController {
  static constexpr ObjectKind kKind{"ReplicationController", "v1", "replicationcontrollers",
                                    kNamespaced};
  ObjectMeta metadata;
  StringMap selector;
  friend bool operator==(const ReplicationController&, const ReplicationController&) = default;
};

struct ReplicaSet {
  static constexpr ObjectKind kKind{"ReplicaSet", "apps/v1", "replicasets", kNamespaced};
  ObjectMeta metadata;
  std::optional<LabelSelector> selector;
  friend bool operator==(const ReplicaSet&, const ReplicaSet&) = default;
};

struct StatefulSet {
  static constexpr ObjectKind kKind{"StatefulSet", "apps/v1", "statefulsets", kNamespaced};
  ObjectMeta metadata;
  std::optional<LabelSelector> selector;
  friend bool operator==(const StatefulSet&, const StatefulSet&) = default;
};

}  // namespace k8s
