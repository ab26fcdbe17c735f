// Transport on cpprestsdk: the second one, for users who need that library. Its authors have
// archived it, so a build may leave it out (GPU_SCHEDULER_CPPREST).
//
// It fulfils the contract of transport.h; the tests run against both transports. Queue, limits,
// pool, deadlines and cancellation are the same code as for the first; only the sending of one
// request over one connection is done by cpprestsdk's http_client. That library does the following
// things, which a scheduler must not do and which are prevented here:
//
//  * It sends a request again, whatever its method, when a kept-alive connection ends before an
//    answer: a POST that has been carried out would be carried out twice. Here each connection has
//    an http_client of its own, which calls back before each sending (its option for native
//    handles). A second call for the same request gets an exception, so that nothing is sent and
//    the request ends with kConnection and may_have_acted. The callback also checks whether the
//    server has closed the connection meanwhile; if so, a new one is opened.
//  * It checks server names in its own way and sends an address as a name (SNI). Here OpenSSL
//    verifies the certificate exactly as for the first transport, and http_client's check is
//    switched off.
//  * It runs forty threads. Here it has one, which also keeps its work in order; results are passed
//    to the event loop.
//
// What cannot be corrected from outside:
//  * It takes an interim answer (1xx) for the final one; the request ends with kConnection. (The
//    API server sends none unless it is asked for one.)
//  * A header that never ends, and data that is not HTTP, are detected only by the deadline, and
//    without a limit of the memory that they take: it trusts a server that is verified.
//  * Addresses of a name are tried one after the other, each until the kernel gives up. If the
//    first does not answer, the connection's first request has no unacknowledged_limit and no
//    keep-alive: http_client does not show the socket before the second request.
//  * Without TLS it cannot be seen whether a connection is established: connect_timeout and
//    unacknowledged_limit do not apply, send_by applies only to kept connections, and
//    may_have_acted may be true although nothing was sent.
//  * An IPv6 address in the URL of the server is refused, because http_client cannot resolve it.
//
// It costs more than the first: see bench/transport.
#pragma once

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
// thread if this is the first transport, so signals must have been blocked before.
[[nodiscard]] std::unique_ptr<Transport> make_cpprest_transport(EventLoop& loop, Endpoint endpoint,
                                                                Credentials& credentials,
                                                                TransportOptions options = {});

}  // namespace k8s
