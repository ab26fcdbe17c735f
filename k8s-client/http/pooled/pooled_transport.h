// What all transports have in common: everything except how one request travels over one
// connection.
//
// Requests wait in one queue, in order of arrival, for credentials, for a token of the rate limiter
// and for a place in the pool; streams wait only for credentials. Then an Exchange carries the
// request out. The factory decides which kind of connection is used.
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
