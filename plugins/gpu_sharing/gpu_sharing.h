// GpuSharing: which pods get a piece of a shared GPU.
//
// Where GPUs are shared by time-slicing or MPS, nvidia.com/gpu is one of several pods' turns on a
// GPU, unless the device plugin renames it to nvidia.com/gpu.shared; and so with MIG instances,
// nvidia.com/mig-1g.5gb. A pod says what it may get with the annotation gpu-scheduler.io/sharing:
//
//   allowed    a GPU or a replica, and a replica rather
//   required   a replica only
//   never      a GPU of its own only
//
// `defaultSharing` is for pods without the annotation; as long as that allows replicas, a GPU or
// instance of its own is preferred, for the pod did not say that it can do with less. And a
// container of such a pod that asks for several pieces gets no replicas: two of them are neither
// two GPUs nor twice the share, and all may be of one GPU. A pod that asks for
// nvidia.com/gpu.shared by name wants a replica whatever the default is.
//
// How much of its GPU's memory a pod takes, gpu-scheduler.io/gpu-memory says, of each GPU or piece
// that it asks for. Where pods take turns on a GPU (time-slicing, or sharing of unknown kind),
// those that say so together take no more than the node's GPUs have; a GPU of its own, an instance
// or a part of MPS is as large as that at least. Which GPU a piece is of, the device plugin
// decides: what is kept is exact where the node has one GPU, and a sum where it has several. And
// nothing keeps a pod to what it says.
//
// Arguments (GpuSharingArgs):
//   defaultSharing: allowed             or required, or never, for pods without the annotation;
//                                       `required` is of nvidia.com/gpu, not of MIG instances
//   placement: packed                   replicas of the fullest nodes first; or spread
//   failRequestsGreaterThanOne          true where the device plugin is configured so: pods of
//                                       which a container asks for several pieces are kept off, for
//                                       it would fail them on the node. Unsaid, as device plugins
//                                       are by default: NVIDIA's fails them with MPS (from v0.15
//                                       on), GKE's with time-sharing, and with MPS where the node
//                                       has several GPUs. false: never
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_gpu_sharing(k8s::yaml::ObjectReader& args);

}  // namespace plugins
