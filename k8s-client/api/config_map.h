// v1 ConfigMap, as far as it is read and written: text by key.
//
// Source: kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/config-map-v1.
// A key is of letters, digits, '-', '_' and '.', and all together at most a MiB.
#pragma once

#include "k8s-client/api/kind.h"
#include "k8s-client/api/meta.h"

namespace k8s {

struct ConfigMap {
  static constexpr ObjectKind kKind{"ConfigMap", "v1", "configmaps", kNamespaced};
  ObjectMeta metadata;
  StringMap data;
  friend bool operator==(const ConfigMap&, const ConfigMap&) = default;
};

}  // namespace k8s
