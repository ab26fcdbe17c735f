// Which failed pods speak against their node.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/event.h"
#include "scheduler/cluster/claim.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/gpu/inventory.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sched {

// What a pod asks for of devices, by name: any extended resource, since device plugins serve them
// all; of each the most that one container asks, since kubelet asks for each container by itself.
// Empty: it asks for none.
[[nodiscard]] std::map<std::string, std::int64_t> devices_of(const k8s::Pod& pod);

// Of a failed pod with devices that the kubelet of its node rejected for want of them, or of
// anything else that it had been promised; nullopt: another pod, or another failure. Those are
// UnexpectedAdmissionError (a device plugin would not allocate) and OutOf… (less is there than the
// scheduler thought). Not counted: pods that ask for more than one unit of a shared device
// (….shared), which is_by_rule() explains. A pod without status.startTime is dated by its creation.
// Source: kubelet, pkg/kubelet/lifecycle/predicate.go and cm/devicemanager; rejected pods get a
// start time when they are (status/status_manager.go).
[[nodiscard]] std::optional<event::PodRejected> rejection_of(const k8s::Pod& pod);

// Whether the pod may have been rejected for what it asked, and not for what is wrong with its
// node: NVIDIA's plugin fails a container that asks for several pieces of a shared GPU, with
// time-slicing where failRequestsGreaterThanOne is set, with MPS of its own accord (since v0.15,
// api/config/v1/config.go). Such pieces may go by the name of whole GPUs, nvidia.com/gpu, or of
// whole instances; the node tells. `node`: what it offers; null: not known, and then it may be. A
// user's mistake must not make black holes of sound nodes.
[[nodiscard]] bool is_by_rule(const event::PodRejected& rejection, const gpu::Inventory* node);

// Whether the node has, beside what the other pods there take, what the pod asked for: else it was
// rejected for what it asked, and its kubelet was right. `held`: what the pod itself takes there;
// null: nothing any more. True where it is not known what the pod asked for.
[[nodiscard]] bool had_room(const event::PodRejected& rejection, const NodeView& node,
                            const Claim* held, const ResourceNames& names);

}  // namespace sched
