// The cluster as the API server shows it to the caller, read once.
#pragma once

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/base/event.h"
#include "scheduler/base/watched_kinds.h"

#include <functional>
#include <string>
#include <vector>

namespace sched::kubectl {

// Lists, to `sink`, everything that a scheduler watches that reads such changes (changes_read).
// Optional kinds that are missing or may not be read count as empty; returns those that the caller
// may not read. Pods, nodes, namespaces, volumes, claims and quotas must be readable: the error
// names the missing right.
[[nodiscard]] k8s::Result<std::vector<std::string>> read_cluster(k8s::EventLoop& loop,
                                                                 const k8s::ClusterAccess& access,
                                                                 std::function<void(Event)> sink,
                                                                 ChangeMask reads);

}  // namespace sched::kubectl
