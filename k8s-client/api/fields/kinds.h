// The fields of all kinds: those with few here, the others in headers of their own.
#pragma once

#include "k8s-client/api/fields/description.h"
#include "k8s-client/api/fields/gpu_quota.h"
#include "k8s-client/api/fields/meta.h"
#include "k8s-client/api/fields/node.h"
#include "k8s-client/api/fields/pod.h"
#include "k8s-client/api/fields/selector.h"
#include "k8s-client/api/fields/storage.h"
#include "k8s-client/api/kinds.h"

namespace k8s {

void fields(Of<Namespace> auto& ns, auto&& field) { field("metadata", ns.metadata); }

void fields(Of<ConfigMap> auto& map, auto&& field) {
  field("metadata", map.metadata);
  field("data", map.data);
}

// Pod templates (spec, 3) are skipped.
void fields(Of<Service, ReplicationController, ReplicaSet, StatefulSet> auto& object,
            auto&& field) {
  field({"metadata", 1}, object.metadata);
  field({"spec", 2}, Nested{[&](auto&& spec) { spec({"selector", 2}, object.selector); }});
}

// resource.k8s.io/v1. Its config (spec, 2) is skipped.
void fields(Of<DeviceClass> auto& device_class, auto&& field) {
  field({"metadata", 1}, device_class.metadata);
  field({"spec", 2}, Nested{[&](auto&& spec) {
          spec({"extendedResourceName", 4}, device_class.extended_resource_name);
        }});
}

void fields(Of<PodDisruptionBudget> auto& budget, auto&& field) {
  field("metadata", budget.metadata);
  field("spec", Nested{[&](auto&& spec) { spec("selector", budget.selector); }});
  field("status", Nested{[&](auto&& status) {
          status("disruptionsAllowed", budget.disruptions_allowed);
          status("disruptedPods", budget.disrupted_pods, Keys{});
        }});
}

void fields(Of<Lease::Spec> auto& spec, auto&& field) {
  // Written even if there is no holder, because that may be the change.
  field("holderIdentity", spec.holder_identity, Always{});
  field("leaseDurationSeconds", spec.lease_duration_seconds);
  field("acquireTime", spec.acquire_time, MicroTime{});
  field("renewTime", spec.renew_time, MicroTime{});
  field("leaseTransitions", spec.lease_transitions, Always{});
}

void fields(Of<Lease> auto& lease, auto&& field) {
  field("metadata", lease.metadata);
  field("spec", lease.spec);
}

}  // namespace k8s
