// Which failed pods speak against their node.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/engine/event.h"

#include <optional>

namespace sched {

// True of pods that ask for a device: any extended resource, since device plugins serve them all.
[[nodiscard]] bool asks_for_devices(const k8s::Pod& pod);

// Of a failed pod with devices that the kubelet of its node rejected for want of them, or of
// anything else that it had been promised; nullopt: another pod, or another failure. Those are
// UnexpectedAdmissionError (a device plugin would not allocate) and OutOf… (less is there than the
// scheduler thought). Not counted: pods that ask for more than one unit of a shared device
// (….shared), which NVIDIA's plugin rejects by rule where failRequestsGreaterThanOne is set; a
// user's mistake must not make black holes of sound nodes. A pod without status.startTime is dated
// by its creation. Source: kubelet, pkg/kubelet/lifecycle/predicate.go and cm/devicemanager;
// rejected pods get a start time when they are (status/status_manager.go).
[[nodiscard]] std::optional<event::PodRejected> rejection_of(const k8s::Pod& pod);

}  // namespace sched
