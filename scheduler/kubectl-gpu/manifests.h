// What a plan's files bring: pods, what creates pods, nodes, quotas and storage, as the API server
// and its controllers would have made them.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/answers/plan.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sched::kubectl {

// The value of a PriorityClass, by name.
using PriorityClasses = std::map<std::string, std::int32_t>;

// The files' objects, added to `change`. Pods of Jobs, JobSets, Deployments, ReplicaSets,
// ReplicationControllers and StatefulSets are those that run at a time. They are not said to be
// owned by these: default spread constraints go by the Services that select them alone. What the
// API server adds is added: a namespace, to pods a uid, requests from limits, the default
// scheduler's name and the priority of their class, to claims the phase Pending, to storage classes
// immediate binding. A claim without a class gets none: the cluster's default is the API server's
// to give. Not made are the claims of a StatefulSet's volumeClaimTemplates. Pods are told apart by
// namespace and name: one that is given twice is an error, as is an object of another kind, and a
// priority class that is neither in `classes` nor in the files.
[[nodiscard]] k8s::Result<void> load_manifests(const std::vector<std::string>& files,
                                               const std::string& namespace_,
                                               PriorityClasses classes, answers::Change& change);

}  // namespace sched::kubectl
