// What all transports have in common: everything but how one request travels over one connection.
//
// Requests wait in one queue, first come first served, for credentials, for a token of the rate
// limiter and for a place in the pool; streams wait for credentials alone. An Exchange then sees
// its request through. Which connections are used is the factory's choice.
#pragma once

#include "k8s-client/http/credentials.h"
#include "k8s-client/http/endpoint.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/pooled/connection.h"
#include "k8s-client/http/transport.h"
#include "k8s-client/http/transport_options.h"

#include <memory>

namespace k8s::http {

// `loop` and `credentials` must outlive the transport.
[[nodiscard]] std::unique_ptr<Transport> make_pooled_transport(
    EventLoop& loop, const Endpoint& endpoint, Credentials& credentials,
    const TransportOptions& options, std::unique_ptr<ConnectionFactory> factory);

}  // namespace k8s::http
