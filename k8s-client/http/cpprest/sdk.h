// The parts of cpprestsdk that this folder uses, and their names here.
//
// Asio's header first: Asio 1.18 needs <utility> before it (boost_asio.h).
#pragma once

// clang-format off
#include "k8s-client/http/base/boost_asio.h"
// clang-format on

#include <boost/asio/ssl/stream.hpp>
#include <cpprest/http_client.h>
#include <pplx/pplxtasks.h>
#include <pplx/threadpool.h>

namespace k8s::http::sdk {

using web::http::http_request;
using web::http::http_response;
using web::http::client::http_client;
using web::http::client::http_client_config;

// What native_handle points to.
using PlainSocket = boost::asio::ip::tcp::socket;
using TlsSocket = boost::asio::ssl::stream<PlainSocket&>;

// Starts cpprestsdk's thread: one for the whole process. No effect if it runs already. When the
// program ends, it waits until cpprestsdk has released what it was given: usually for a moment, ten
// seconds at most.
void start();

// Owned by everything that cpprestsdk has been given and has not released yet.
class InUse {
 public:
  InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse();
};

// Runs `task` on cpprestsdk's thread, after that thread's earlier tasks.
template <typename Task>
void post(Task task) {
  boost::asio::post(crossplat::threadpool::shared_instance().service(), std::move(task));
}

}  // namespace k8s::http::sdk
