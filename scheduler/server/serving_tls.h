// What a TLS connection of the server is made with. Internal to scheduler/server.
#pragma once

#include "k8s-client/http/base/boost_asio.h"

namespace sched::server {

// Immutable once made; connections keep the one that they began with.
struct ServingTls {
  boost::asio::ssl::context context{boost::asio::ssl::context::tls_server};
};

}  // namespace sched::server
