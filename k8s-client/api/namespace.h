// A namespace: its labels, which namespace selectors read.
#pragma once

#include "k8s-client/api/kind.h"
#include "k8s-client/api/meta.h"

namespace k8s {

struct Namespace {
  static constexpr ObjectKind kKind{"Namespace", "v1", "namespaces"};
  ObjectMeta metadata;
  friend bool operator==(const Namespace&, const Namespace&) = default;
};

}  // namespace k8s
