// The two transports to the API server: one for everything, and one for the lease alone.
//
// So a renewal of the lease waits neither for the rate limit nor for a connection behind a thousand
// binds. The two transports share the event loop and its one thread that resolves names: if the
// server is given by name, as in some kubeconfigs, a new connection for the lease waits for the
// name that is being resolved.
#pragma once

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/error.h"
#include "k8s-client/http/cpprest_transport.h"
#include "k8s-client/http/endpoint.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "k8s-client/http/transport_options.h"
#include "scheduler/config/config.h"
#include "scheduler/live/leadership/bind_gate.h"

#include <memory>

namespace sched::live {

// Whether this build has the requested transport; otherwise what to do about it.
[[nodiscard]] k8s::Result<void> check_transport(const config::ClientConnection& connection,
                                                bool has_cpprest = k8s::has_cpprest_transport());

// Of the transport for everything but the lease. It has a connection for each call that can be open
// at the same time, so that writes of one kind that hang do not delay those of another, or binds.
[[nodiscard]] k8s::TransportOptions transport_options(const config::ClientConnection& connection,
                                                      const BindTimes& times);

// Of the transport for the lease. A connection that has become silent costs one renewal, not half
// of the renew deadline: it ends if its bytes are not acknowledged within the margin, and a new one
// is given up after three seconds. Later if the server is given by name: if a name server does not
// answer, the resolver asks the next one after five seconds.
[[nodiscard]] k8s::TransportOptions lease_transport_options(const k8s::Endpoint& server,
                                                            const BindTimes& times);

// `loop` and `cluster` must outlive the transports. `times`: a connection ends if its bytes are not
// acknowledged within the margin (bind_gate.h).
[[nodiscard]] std::unique_ptr<k8s::Transport> make_transport(
    k8s::EventLoop& loop, const k8s::ClusterAccess& cluster,
    const config::ClientConnection& connection, const BindTimes& times);
[[nodiscard]] std::unique_ptr<k8s::Transport> make_lease_transport(
    k8s::EventLoop& loop, const k8s::ClusterAccess& cluster,
    const config::ClientConnection& connection, const BindTimes& times);

}  // namespace sched::live
