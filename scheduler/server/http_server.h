// A small HTTP server for probes and scrapes, on the event loop that everything else runs on: a
// loop that hangs does not answer its probe.
//
// GET only, no TLS, no keep-alive. What a stranger can make it hold is bounded: the number of
// connections, the size of a request, and the time that each may take, one that never asks too. One
// connection more than there may be ends the oldest, so those that never ask keep nobody out.
//
// A connection that cannot be accepted (no file descriptor is left) stays in the kernel's queue;
// the next try comes after a pause that doubles up to a second, as in Go's net/http.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace sched::server {

struct Reply {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

class HttpServer {
 public:
  // The answer to a GET of `path` (without its query). On the event loop's thread.
  using Handler = std::function<Reply(std::string_view path)>;

  // What happens to it, on the event loop's thread.
  struct Hooks {
    // A connection could not be accepted; each time, the caller tells people once.
    std::function<void(const k8s::Error&, std::chrono::milliseconds retry_in)> on_problem =
        [](const k8s::Error&, std::chrono::milliseconds) {};
    // One was.
    std::function<void()> on_progress = [] {};
  };

  // Listens on "HOST:PORT", HOST an address ("127.0.0.1", "[::1]", "0.0.0.0"); PORT 0 takes a free
  // one. `loop` must come from make_asio_event_loop() and outlive the server.
  [[nodiscard]] static k8s::Result<std::unique_ptr<HttpServer>> listen(k8s::EventLoop& loop,
                                                                       const std::string& address,
                                                                       Handler handler,
                                                                       Hooks hooks);
  // Whether listen() would understand `address`.
  [[nodiscard]] static k8s::Result<void> check_address(const std::string& address);
  ~HttpServer();  // closes the listening socket; on the event loop's thread, or after it ended
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;

 private:
  class Listener;
  explicit HttpServer(std::shared_ptr<Listener> listener);
  std::shared_ptr<Listener> listener_;
};

}  // namespace sched::server
