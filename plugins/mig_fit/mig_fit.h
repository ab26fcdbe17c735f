// MigFit: pods that ask for MIG instances, and nodes whose nvidia.com/gpu are instances.
//
// Under the MIG strategy `mixed` each profile is a resource of its own, nvidia.com/mig-3g.40gb:
// whether one is free is NodeResourcesFit's to say. MigFit adds to the message of a pod that waits
// for one which nodes have the profile and none free, which could hold it if their GPUs were cut
// differently, and which never could: the same name is another thing, or nothing, on another model.
//
// Under the strategy `single` nvidia.com/gpu itself is an instance, all of one profile. A pod that
// asks for a GPU and gets a seventh of one was not understood, so such a node takes only pods that
// name its profile: by the annotation or label gpu-scheduler.io/mig-profile (which also keeps them
// off all other nodes), or in their node selection, by the product's label or by GKE's partition
// size. Of a pod that asks for no GPU the annotation says nothing, as all of ours: it may have come
// by a template that several kinds of pods share.
//
// On a live cluster instances are counted; which GPU they lie on, and where on it, decides the
// device plugin. Replays cut GPUs as pods come: bench/policies/gpu_devices. Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_mig_fit(k8s::yaml::ObjectReader& args);

}  // namespace plugins
