// GpuSharing: who gets a piece of a shared GPU.
//
// Where GPUs are shared by time-slicing or MPS, nvidia.com/gpu is one of several pods' turns on a
// GPU, unless the device plugin renames it to nvidia.com/gpu.shared. A pod says what it may get
// with the annotation gpu-scheduler.io/sharing:
//
//   allowed    a GPU or a replica, and a replica rather
//   required   a replica only
//   never      a GPU of its own only
//
// Who says nothing is served by `defaultSharing`; as long as that allows replicas, a GPU of its own
// is preferred, for the pod did not say that it can do with less. Who asks for
// nvidia.com/gpu.shared by name wants a replica whatever the default is.
//
// Arguments (GpuSharingArgs):
//   defaultSharing: allowed             or required, or never, for pods without the annotation.
//                                       kube-scheduler knows no difference: hence `allowed`
//   placement: packed                   replicas of the fullest nodes first; or spread
//   failRequestsGreaterThanOne          true where the device plugin is configured so: pods of
//                                       which a container asks for several pieces are kept off, for
//                                       it would fail them on the node. Unsaid, as NVIDIA's plugin
//                                       has it from v0.15 on: with MPS it fails them, with
//                                       time-slicing it does not, and there two replicas are
//                                       neither two GPUs nor twice the share. false: never
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_gpu_sharing(k8s::yaml::ObjectReader& args);

}  // namespace plugins
