// Which failed pods count against their node.
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
#include <string_view>

namespace sched {

// The reason of a pod whose CPUs and devices kubelet could not align (topology_rejections.h).
inline constexpr std::string_view kTopologyReason = "TopologyAffinityError";

// The devices that a pod asks for, by name: any extended resource, because device plugins serve
// them all. The amount is the most that one container asks for, because kubelet allocates for each
// container separately. Empty: none.
[[nodiscard]] std::map<std::string, std::int64_t> devices_of(const k8s::Pod& pod);

// Set for a failed pod with devices that its node's kubelet rejected because devices, or anything
// else that it was promised, were missing; nullopt for another pod or another failure. The reasons
// are UnexpectedAdmissionError (a device plugin did not allocate) and OutOf… (there is less than
// the scheduler assumed). Also set for any pod that was rejected with TopologyAffinityError. Not
// counted: pods that ask for more than one unit of a shared device
// (….shared); is_by_rule() has the reason. A pod without status.startTime is dated by its creation.
// Source: kubelet, pkg/kubelet/lifecycle/predicate.go and cm/devicemanager; a rejected pod gets its
// start time at the rejection (status/status_manager.go).
[[nodiscard]] std::optional<event::PodRejected> rejection_of(const k8s::Pod& pod);

// Whether the pod may have been rejected for what it asked, not for a fault of its node. NVIDIA's
// plugin fails a container that asks for several pieces of a shared GPU: with time-slicing if
// failRequestsGreaterThanOne is set, with MPS always (since v0.15, api/config/v1/config.go). Such
// pieces may have the name of whole GPUs, nvidia.com/gpu, or of whole instances; the node shows
// which. `node`: what it offers; null: not known, and then the answer is true. A user's mistake
// must not make black holes of healthy nodes.
[[nodiscard]] bool is_by_rule(const event::PodRejected& rejection, const gpu::Inventory* node);

// Whether the node has what the pod asked for, besides what its other pods take. If not, the pod
// was rejected for what it asked, and the kubelet was right. `held`: what the pod itself takes
// there; null: nothing any more. True if it is not known what the pod asked for.
[[nodiscard]] bool had_room(const event::PodRejected& rejection, const NodeView& node,
                            const Claim* held, const ResourceNames& names);

}  // namespace sched
