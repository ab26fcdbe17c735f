// One connection of HttpServer: one request, one answer, closed. Plain, or with TLS.
#pragma once

#include "k8s-client/http/base/boost_asio.h"
#include "scheduler/server/http_server.h"
#include "scheduler/server/serving_tls.h"

#include <chrono>
#include <memory>

namespace sched::server {

using ServerSocket = boost::asio::ip::tcp::socket;

class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // The connection ends after `limit`, whatever its state.
  virtual void start(std::chrono::milliseconds limit) = 0;
  // Closes the connection at once, whatever its state.
  virtual void cut() = 0;
  // Whether a reply of status 200 is being sent.
  [[nodiscard]] virtual bool is_served() const = 0;
};

// `owner` keeps `handler`; `tls` is nullptr for a plain connection.
[[nodiscard]] std::shared_ptr<Session> make_session(ServerSocket socket,
                                                    std::shared_ptr<ServingTls> tls,
                                                    const HttpServer::Handler& handler,
                                                    std::shared_ptr<void> owner);

}  // namespace sched::server
