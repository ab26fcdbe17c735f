// VolumeBinding: a pod goes where its volumes can be used, and its claims that wait for it are
// bound.
//
// Excluded are nodes that the node affinity of a bound volume does not allow, and nodes on which a
// claim of a class that waits for its first consumer would find no volume and could not have one
// provisioned (matching.h). Before the pod is bound to its chosen node, that node is written to
// each such claim, or the volume that the claim takes is reserved for it. Then the bind waits until
// the volume controller and the provisioners have bound all claims. If a provisioner gives the node
// up, or it takes too long, the pod is tried again. A pod is refused while a claim of it is
// missing, lost, being deleted, or must be bound before its pod is placed ("Immediate").
//
//   bindTimeoutSeconds   how long a bind waits for its volumes; 600
//
// Source: kube-scheduler, plugins/volumebinding.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

// If `args` has an error, the result must not be used; the error is in the reader.
[[nodiscard]] sched::PluginInstance make_volume_binding(k8s::yaml::ObjectReader& args);

}  // namespace plugins
