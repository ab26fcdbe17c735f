// The bodies of the calls of client.h, and the one small answer that they read.
//
// Binds and events, which are sent by the thousands, are in protobuf: to read them as JSON is a
// large part of their cost for the API server.
#pragma once

#include "k8s-client/api/event.h"
#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/meta.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/storage.h"
#include "k8s-client/calls.h"
#include "k8s-client/error.h"

#include <string>

namespace k8s {

// v1 Binding, for POST …/pods/NAME/binding.
[[nodiscard]] std::string binding_body(const Binding& binding);

// events.k8s.io/v1 Event, for POST.
[[nodiscard]] std::string event_body(const EventObject& event);

// Strategic merge patch of pods/status: merges the one condition by its type. It carries the uid
// and, if it has one, the resource version of `pod`. lastTransitionTime is sent only if the
// condition's status differs from that in `pod`, because it is the time of the last change of
// status; if it is left out, the server keeps its value. The nominated node is only named if
// `condition` has one.
[[nodiscard]] std::string pod_scheduled_patch(const Pod& pod,
                                              const PodScheduledCondition& condition,
                                              Timestamp now);

// Strategic merge patch of pods/status: the nominated node; empty: it is removed. It carries the
// uid of `pod`: the server answers 422 if its name belongs to another pod.
[[nodiscard]] std::string nomination_patch(const ObjectMeta& pod, const std::string& node);

// Strategic merge patch of pods/status: the condition DisruptionTarget=True of a pod that is
// preempted. It carries the uid, too. Source: Kubernetes 1.36,
// pkg/scheduler/framework/preemption/executor.go.
[[nodiscard]] std::string disruption_target_patch(const ObjectMeta& pod, const std::string& message,
                                                  Timestamp now);

// v1 DeleteOptions: only if the object still has that uid (else 409), with its own grace period.
// `dry_run`: nothing is deleted.
[[nodiscard]] std::string delete_options(const std::string& uid, bool dry_run = false);

// Merge patch of a claim: the annotation of the node for which its volume is to be made. It carries
// the resource version of `claim`: the server answers 409 if the object has changed since, or is
// another one.
[[nodiscard]] std::string selected_node_patch(const ObjectMeta& claim, const std::string& node);

// Merge patch of a volume, also at the version of `volume`: the claim that it is for, and the
// annotation of a binding that no user made, unless the volume named that claim before. Source:
// k8s.io/component-helpers storage/volume/pv_helpers.go, GetBindVolumeToClaim.
[[nodiscard]] std::string volume_claim_patch(const PersistentVolume& volume,
                                             const ObjectMeta& claim);

// Merge patch of gpuquotas/status. It carries the uid and the resource version of `quota`: the
// server answers 409 if the object is another one, or has changed since.
[[nodiscard]] std::string gpu_quota_status_patch(const ObjectMeta& quota,
                                                 const GpuQuota::Status& status);

// Strategic merge patch of an event's series.
[[nodiscard]] std::string event_series_patch(const EventObject& event);

// gitVersion of the answer to GET /version.
[[nodiscard]] Result<std::string> git_version_of(const std::string& body);

}  // namespace k8s
