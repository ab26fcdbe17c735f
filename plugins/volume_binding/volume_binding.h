// VolumeBinding: a pod goes where its volumes can be used, and has those bound that wait for it.
//
// Nodes are excluded that a bound volume's node affinity does not allow, and those on which a claim
// of a class that waits for its first consumer would find no volume, nor have one provisioned
// (matching.h). Before the pod is bound to the node that was chosen, each such claim has that node
// written to it, or the volume that it takes is reserved for it; then the bind waits until the
// volume controller and the provisioners have bound all claims. Where a provisioner gives the node
// up, or it takes too long, the pod is tried anew. A pod is refused while a claim of it is missing,
// lost, being deleted, or is to be bound before pods are looked at ("Immediate").
//
//   bindTimeoutSeconds   how long a bind waits for its volumes; 600
//
// Source: kube-scheduler, plugins/volumebinding.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

// On a mistake in `args`: nothing that is of use, and the reader says what.
[[nodiscard]] sched::PluginInstance make_volume_binding(k8s::yaml::ObjectReader& args);

}  // namespace plugins
