// A small HTTP server for probes and scrapes.
//
// GET and HEAD only, one request per connection. What a client can make it hold is bounded: the
// number of connections, the size of a request, and the time of a connection, also of one without a
// request. If there is one connection too many, the oldest one that is not getting a reply of
// status 200 is closed; if all are, the oldest of all. So clients that send no request, or are
// refused, keep no other client out.
//
// A connection that cannot be accepted (no file descriptor is left) stays in the kernel's queue;
// the next try comes after a pause that doubles up to a second, as in Go's net/http.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched::server {

class ServingCertificate;

// The header of a bearer token that comes through the API server's proxy of pods. The proxy uses
// the header Authorization itself, and does not forward it.
inline constexpr const char* kForwardedAuthorization = "X-Gpu-Scheduler-Authorization";

// Valid during the handler's call only.
struct Request {
  std::string_view path;        // without its query
  std::string_view query = {};  // what stands behind the "?", as it came: see query.h
  std::optional<std::string_view> bearer_token = {};  // of Authorization, else of the above
  std::string_view host = {};                         // the header; empty: there is none
  // Expires when the answer is not needed any more: it was given, or the client is gone, or its
  // time is up. May be stored.
  std::weak_ptr<const void> client = {};
};

struct Reply {
  int status = 200;  // 401 asks for a bearer token
  // Many connections may share one.
  std::shared_ptr<const std::string> body = std::make_shared<const std::string>();
  // Sent behind it, one after the other; each has the connection's time limit for itself.
  std::vector<std::shared_ptr<const std::string>> more = {};
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers = {};  // besides those that all have
};

[[nodiscard]] Reply text_reply(int status, std::string text);
[[nodiscard]] Reply json_reply(std::string json);

class HttpServer {
 public:
  static constexpr std::chrono::seconds kTimeLimit{10};

  // Answers a GET, at once or later; once, on the loop's thread. The answer to a connection that
  // has ended meanwhile is dropped.
  using Answer = std::function<void(Reply)>;
  using Handler = std::function<void(const Request&, Answer)>;

  struct Options {
    // "HOST:PORT", HOST an address ("127.0.0.1", "[::1]", "0.0.0.0"); PORT 0 takes a free one.
    std::string address;
    std::size_t max_connections = 64;
    std::chrono::milliseconds time_limit = kTimeLimit;  // of a connection
    // Not nullptr: HTTPS with this certificate, which must outlive the server.
    ServingCertificate* certificate = nullptr;
  };

  // What happens to it, on the event loop's thread.
  struct Hooks {
    // A connection could not be accepted. Called each time; the receiver logs a repeated problem
    // only once.
    std::function<void(const k8s::Error&, std::chrono::milliseconds retry_in)> on_problem =
        [](const k8s::Error&, std::chrono::milliseconds) {};
    // A connection was accepted.
    std::function<void()> on_progress = [] {};
  };

  // `loop` must outlive the server.
  [[nodiscard]] static k8s::Result<std::unique_ptr<HttpServer>> listen(k8s::EventLoop& loop,
                                                                       const Options& options,
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
