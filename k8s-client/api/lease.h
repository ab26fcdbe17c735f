// coordination.k8s.io/v1 Lease: which process leads, and when its last sign of life came.
//
// Source: kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1. The times are for
// people: they come from the holder's clock, and cannot be compared with other clocks.
#pragma once

#include "k8s-client/api/kind.h"
#include "k8s-client/api/meta.h"

#include <cstdint>
#include <optional>
#include <string>

namespace k8s {

struct Lease {
  static constexpr ObjectKind kKind{"Lease", "coordination.k8s.io/v1", "leases", kNamespaced};
  struct Spec {
    std::string holder_identity;              // empty: the lease has no holder
    std::int32_t lease_duration_seconds = 0;  // at least 1; 0: not stated
    std::optional<Timestamp> acquire_time;
    std::optional<Timestamp> renew_time;
    std::int32_t lease_transitions = 0;  // how often the holder has changed
    friend bool operator==(const Spec&, const Spec&) = default;
  };

  ObjectMeta metadata;
  Spec spec;
  friend bool operator==(const Lease&, const Lease&) = default;
};

}  // namespace k8s
