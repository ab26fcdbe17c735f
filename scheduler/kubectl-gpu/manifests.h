// The contents of a plan's files: pods, workloads that create pods, nodes, quotas and storage, as
// the API server and its controllers would have made them.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/answers/plan.h"
#include "scheduler/kubectl-gpu/notes.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sched::kubectl {

// The value of a PriorityClass, by name.
using PriorityClasses = std::map<std::string, std::int32_t>;

// What the cluster has that files may name.
struct Known {
  PriorityClasses classes = {};
  std::map<PodName, PodRef> pods = {};
  std::map<std::string, Time> quotas = {};  // when they were created
  Time now{};
};

// Adds the files' objects to `change`. For Jobs, JobSets, Deployments, ReplicaSets,
// ReplicationControllers and StatefulSets it adds the pods that run at a time. These pods have no
// owner: default spread constraints follow only the Services that select them. What the API server
// adds is added: to pods a namespace, a uid, requests from limits, the default scheduler's name and
// the priority of their class; to quotas the time of their creation; to claims the phase Pending;
// to storage classes immediate binding. A claim without a class gets none, because the API server
// chooses the cluster's default. Claims of a StatefulSet's volumeClaimTemplates are not made. A pod
// is identified by namespace and name: it is an error if one is given twice. A pod that the cluster
// has already is replaced; the uid, node and status in the file, as kubectl get -o yaml prints
// them, are then left out. Pods of other workloads than StatefulSets have names that only their
// controllers know, and replace none. Other errors: an object of another kind, and a priority class
// that is neither known nor in the files.
[[nodiscard]] k8s::Result<void> load_manifests(const std::vector<std::string>& files,
                                               const std::string& namespace_, Known known,
                                               answers::Change& change);

}  // namespace sched::kubectl
