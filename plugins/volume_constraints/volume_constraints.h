// VolumeConstraints: a pod waits until its volumes can be used from every node.
//
// gpu-scheduler neither binds volumes nor weighs where they can be attached. So a pod is refused
// when a claim of it is missing, unbound or lost, or when a bound volume is tied to some nodes or
// to one pod at a time; kube-scheduler's words where it has some. Claims bound to volumes that
// every node can attach are fine. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_volume_constraints(k8s::yaml::ObjectReader& args);

}  // namespace plugins
