// resource.k8s.io DeviceClass, for one purpose: which extended resource DRA serves.
#pragma once

#include "k8s-client/api/kind.h"
#include "k8s-client/api/meta.h"

#include <string>

namespace k8s {

struct DeviceClass {
  static constexpr ObjectKind kKind{"DeviceClass", "resource.k8s.io/v1", "deviceclasses"};
  ObjectMeta metadata;
  std::string extended_resource_name;  // spec.extendedResourceName; empty: none
  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};

}  // namespace k8s
