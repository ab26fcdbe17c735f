// corev1.Namespace: its labels, which namespace selectors read.
#pragma once

#include "k8s-client/api/meta.h"

namespace k8s {

struct Namespace {
  ObjectMeta metadata;
  friend bool operator==(const Namespace&, const Namespace&) = default;
};

}  // namespace k8s
