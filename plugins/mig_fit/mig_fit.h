// MigFit: pods that ask for MIG instances, and nodes on which nvidia.com/gpu are instances.
//
// Under the MIG strategy `mixed` each profile is a resource of its own, nvidia.com/mig-3g.40gb:
// NodeResourcesFit checks whether one is free. MigFit adds to the message of a waiting pod which
// nodes have the profile and none free, which could hold it if their GPUs were cut differently, and
// which never could: on another model the same name means another profile, or none.
//
// Under the strategy `single` nvidia.com/gpu itself is an instance, and all are of one profile. A
// pod that asks for a GPU and gets a seventh of one would not get what it means, so such a node
// takes only pods that name its profile: by the annotation or label gpu-scheduler.io/mig-profile
// (which also keeps them off all other nodes), or in their node selection, by the product's label
// or by GKE's partition size. For a pod that asks for no GPU the annotation has no effect, as all
// annotations of this scheduler: it may come from a template that several kinds of pods share.
//
// On a live cluster instances are counted; the device plugin decides on which GPU they are, and
// where on it. Replays cut GPUs as pods come: bench/policies/gpu_devices. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_mig_fit(k8s::yaml::ObjectReader& args);

}  // namespace plugins
