// Transport on Boost.Beast and OpenSSL: the default.
#pragma once

#include "k8s-client/http/credentials.h"
#include "k8s-client/http/endpoint.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "k8s-client/http/transport_options.h"

#include <memory>

namespace k8s {

// `loop` and `credentials` must outlive the transport.
[[nodiscard]] std::unique_ptr<Transport> make_asio_transport(EventLoop& loop, Endpoint endpoint,
                                                             Credentials& credentials,
                                                             TransportOptions options = {});

}  // namespace k8s
