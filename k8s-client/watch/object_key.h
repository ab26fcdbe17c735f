// Identifies an object: its place and its uid.
//
// Namespace and name are the place; an object that is deleted and created again has the same place
// and another uid. A reader that stores objects by place compares the uid before it erases one.
#pragma once

#include "k8s-client/api/meta.h"

#include <string>

namespace k8s {

struct ObjectKey {
  std::string namespace_;  // empty for cluster-scoped objects
  std::string name;
  std::string uid;
  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
};

[[nodiscard]] inline ObjectKey key_of(const ObjectMeta& metadata) {
  return {.namespace_ = metadata.namespace_, .name = metadata.name, .uid = metadata.uid};
}

}  // namespace k8s
