// GpuSharing: which pods get a piece of a shared GPU.
//
// If GPUs are shared by time-slicing or MPS, a piece of nvidia.com/gpu is one of several pods'
// shares of a GPU, unless the device plugin renames it to nvidia.com/gpu.shared; the same holds for
// MIG instances, nvidia.com/mig-1g.5gb. The annotation gpu-scheduler.io/sharing states what a pod
// may get:
//
//   allowed    a GPU or a replica; a replica is preferred
//   required   a replica only
//   never      a GPU of its own only
//
// `defaultSharing` is for pods without the annotation. If that allows replicas, a GPU or instance
// of its own is preferred, because the pod did not state that it can do with less. A container of
// such a pod that asks for several pieces gets no replicas: two of them are neither two GPUs nor
// twice the share, and all may be of one GPU. A pod that asks for nvidia.com/gpu.shared by name
// gets a replica whatever the default is.
//
// gpu-scheduler.io/gpu-memory states how much memory a pod takes of each GPU or piece that it asks
// for. If pods take turns on a GPU (time-slicing, or unknown sharing), the pods with that
// annotation together take at most what the node's GPUs have; a GPU of its own, an instance or a
// part of MPS must be at least that large. The device plugin decides which GPU a piece is of: so
// the sum is exact if the node has one GPU, and only a total if it has several. Nothing enforces
// that a pod takes no more than it states.
//
// Arguments (GpuSharingArgs):
//   defaultSharing: allowed             or required, or never, for pods without the annotation;
//                                       `required` is for nvidia.com/gpu, not for MIG instances
//   placement: packed                   replicas of the fullest nodes first; or spread
//   failRequestsGreaterThanOne          true if the device plugin is configured so: pods with a
//                                       container that asks for several pieces are kept off,
//                                       because it would fail on the node. Not set: as device
//                                       plugins are by default: NVIDIA's fails them with MPS (from
//                                       v0.15 on), GKE's with time-sharing, and with MPS if the
//                                       node has several GPUs. false: never
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_gpu_sharing(k8s::yaml::ObjectReader& args);

}  // namespace plugins
