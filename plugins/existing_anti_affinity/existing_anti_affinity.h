// ExistingAntiAffinity: required anti-affinity of running pods also binds those that come later.
//
// A pod that a running pod keeps away (within some topology that gpu-scheduler cannot weigh yet) is
// placed nowhere rather than beside it. Terms are kept once, however many replicas share them, with
// the pods that have them; asking costs one comparison per different term. Source: kube-scheduler
// InterPodAffinity, existing pods anti-affinity. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_existing_anti_affinity(k8s::yaml::ObjectReader& args);

}  // namespace plugins
