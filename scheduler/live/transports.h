// The two ways to the API server: one for everything, and one for the lease alone.
//
// A renewal waits behind nothing, neither for a token of the rate limit nor for a connection that a
// thousand binds are queueing for. What the two share is the event loop, and its one thread that
// resolves names: where the cluster is named and not numbered, as in some kubeconfigs, a lease's
// connection that has to be opened anew waits for whatever name is being resolved.
#pragma once

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/error.h"
#include "k8s-client/http/cpprest_transport.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "scheduler/config/config.h"
#include "scheduler/live/leadership/bind_gate.h"

#include <memory>

namespace sched::live {

// Whether this build has the transport that is asked for; otherwise what to do about it.
[[nodiscard]] k8s::Result<void> check_transport(const config::ClientConnection& connection,
                                                bool has_cpprest = k8s::has_cpprest_transport());

// `loop` and `cluster` must outlive what they make. `times`: no byte of a bind is on its way for
// longer than the margin (bind_gate.h).
[[nodiscard]] std::unique_ptr<k8s::Transport> make_transport(
    k8s::EventLoop& loop, const k8s::ClusterAccess& cluster,
    const config::ClientConnection& connection, const BindTimes& times);
[[nodiscard]] std::unique_ptr<k8s::Transport> make_lease_transport(
    k8s::EventLoop& loop, const k8s::ClusterAccess& cluster,
    const config::ClientConnection& connection);

}  // namespace sched::live
