// ExistingAntiAffinity: required anti-affinity of running pods also binds those that come later.
//
// A pod that a term of a running pod selects may not use the nodes of that pod's topology domain:
// those that carry the same value of the term's topologyKey as its node. A term whose node lacks
// the key has no effect. Terms are kept once, however many replicas share them, with the nodes of
// the pods that have them; asking costs one comparison per different term, and one step per node of
// each term that selects the pod. Messages name no pod: it may be one of another namespace.
// Source: kube-scheduler InterPodAffinity, existing pods anti-affinity. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_existing_anti_affinity(k8s::yaml::ObjectReader& args);

}  // namespace plugins
