// The cluster as the API server shows it to the caller, read once.
#pragma once

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/base/event.h"
#include "scheduler/framework/cluster_change.h"

#include <functional>
#include <string>
#include <vector>

namespace sched::kubectl {

// Lists all that a scheduler watches that reads such changes (changes_read), to `sink`. Kinds that
// a cluster may lack or hide count as none; returns those that it hides from the caller. Pods,
// nodes, namespaces, volumes, claims and quotas must be readable: the error says what right is
// missing.
[[nodiscard]] k8s::Result<std::vector<std::string>> read_cluster(k8s::EventLoop& loop,
                                                                 const k8s::ClusterAccess& access,
                                                                 std::function<void(Event)> sink,
                                                                 ChangeMask reads);

}  // namespace sched::kubectl
