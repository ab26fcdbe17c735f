// VolumeConstraints: a pod waits until its claims are bound, and goes where its volumes are.
//
// Nodes are excluded that a bound volume's node affinity or zone labels do not allow, as
// kube-scheduler's VolumeBinding and VolumeZone do it. gpu-scheduler does not bind volumes: a pod
// is refused as long as a claim of it is missing, unbound or lost, or lets one pod at a time use
// its volume; kube-scheduler's words where it has some. How many volumes a node can attach is not
// looked at. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_volume_constraints(k8s::yaml::ObjectReader& args);

}  // namespace plugins
