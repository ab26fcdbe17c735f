// Transport on cpprestsdk: the second one, for users that need that library. Its authors have
// archived it, so that a build may leave it out (GPU_SCHEDULER_CPPREST).
//
// It keeps the contract of transport.h, which it is tested against beside the first. Queue, limits,
// pool, deadlines and cancellation are the very code of the first; how one request travels over one
// connection is cpprestsdk's http_client. What that library does and a scheduler must not:
//
//  * It sends a request again, whatever its method, when a kept-alive connection ends before an
//    answer: a POST that has been carried out would be carried out twice. Here each connection has
//    an http_client of its own, which calls us back before each sending (its option for native
//    handles); a second call for the same request is answered by an exception, so that nothing is
//    sent and the request ends with kConnection and may_have_acted. In that callback too it is
//    looked whether the server has closed the connection meanwhile; if so, a new one is opened.
//  * It checks server names in its own way and sends an address as a name (SNI). Here the
//    certificate is verified by OpenSSL exactly as in the first, and http_client's check is left
//    out of it.
//  * It runs forty threads. Here it is one, which also puts what it does in order; results are
//    handed to the event loop.
//
// What cannot be helped from outside:
//  * An answer 1xx is taken for the last one; it ends the request with kConnection. (The API server
//    sends none unless it is asked for one.)
//  * A header that never ends, and what is no HTTP at all, are noticed by the deadline alone, and
//    without bound to the memory that they take: it trusts a server that has proved who it is.
//  * Addresses of a name are tried one after the other, each until the kernel gives up. Where the
//    first does not answer, the connection's first request has no unacknowledged_limit and no
//    keep-alive: http_client does not show the socket before the second.
//  * Without TLS one cannot see whether a connection stands: connect_timeout does not apply, nor
//    unacknowledged_limit, send_by holds on kept connections only, and may_have_acted errs on the
//    side of true.
//  * An IPv6 address in the URL of the server is refused, since http_client cannot resolve one.
//
// It costs more than the first: see bench/transport.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/credentials.h"
#include "k8s-client/http/endpoint.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "k8s-client/http/transport_options.h"

#include <memory>

namespace k8s {

// Whether it is built in.
[[nodiscard]] bool has_cpprest_transport();

// Only if it is built in. `loop` and `credentials` must outlive the transport. Starts cpprestsdk's
// thread if this is the first, so signals must have been blocked before.
[[nodiscard]] std::unique_ptr<Transport> make_cpprest_transport(EventLoop& loop, Endpoint endpoint,
                                                                Credentials& credentials,
                                                                TransportOptions options = {});

}  // namespace k8s
