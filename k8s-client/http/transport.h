// The interface between requests to an API server and their transmission.
//
// A Transport sends one HTTP request to the one server that it was made for and returns the answer,
// whole or as a stream. It adds credentials, verifies the server, keeps connections alive in a
// limited pool, and enforces deadlines. It does not retry: only the caller can decide whether a
// request may be sent twice (see Request::repeatable), and back-off is a policy above this layer.
// It does not follow redirects: a 3xx is an answer like any other.
//
// All functions are called on the event loop's thread, and all callbacks run there, never from
// within the call that registered them. Each request ends in exactly one final callback, also if it
// is cancelled and when the transport is destroyed (ErrorKind::kCancelled).
#pragma once

#include "k8s-client/boot_clock.h"
#include "k8s-client/error.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s {

enum class Method { kGet, kPost, kPut, kPatch, kDelete };

[[nodiscard]] std::string_view to_string(Method method);  // "GET", …

// More than any object takes: etcd stores 1.5 MiB of one, and in JSON a byte has six characters at
// most: Go writes "<" as "\u003c".
inline constexpr std::size_t kMostOfAnObject = std::size_t{16} << 20;

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  Method method = Method::kGet;
  // Path and query, percent-encoded: "/api/v1/pods?limit=500".
  std::string target;
  // In addition to those that the transport sets itself (Host, Authorization, User-Agent, Accept).
  Headers headers = {};
  std::string body = {};
  std::string content_type = "application/json";
  // From send() to the last byte of the answer; for a stream: to its response headers.
  std::chrono::milliseconds deadline{30'000};
  // For a stream: the longest silence between two chunks before it ends with kTimeout.
  std::chrono::milliseconds idle_limit{0};
  // The longest body of an answer that is stored for the caller. A longer one ends the request with
  // kTooLarge, and closes the connection. Streams store none, and have no limit.
  std::size_t body_limit = kMostOfAnObject;
  // Checked right before the first byte goes to the socket, after all waits for a token, a place or
  // a connection: after this time nothing is sent, and the request ends with kTimeout and
  // may_have_acted false. nullopt: any time within the deadline.
  std::optional<BootClock::time_point> send_by = {};
  // True if it may be sent twice (GET). Only then may the transport send it again on a new
  // connection, if a kept-alive one proves to have been closed by the server.
  bool repeatable = false;
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};

  // The first header of that name, compared without case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

// The callbacks of a stream: on_response once, then on_data for each chunk, then on_end once. A
// request that fails before its response headers gets only on_end.
struct StreamHandler {
  // Status and headers; the body, if any, follows through on_data, also for an error status.
  std::function<void(const Response&)> on_response;
  // Some bytes of the body, cut anywhere. Not valid after the call. Nothing more is read from the
  // socket until it returns, so a slow reader slows the server down.
  std::function<void(std::string_view)> on_data;
  // nullopt: the server ended the body properly. Otherwise why it broke off.
  std::function<void(std::optional<Error>)> on_end;
};

// A request in flight. Destroying it does not cancel.
class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  // Ends the request with kCancelled, unless it has ended already.
  virtual void cancel() = 0;
};

class Transport {
 public:
  using OnResponse = std::function<void(Result<Response>)>;

  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  // Any answer with a status is a Response, also with an error status. Waits for a free connection
  // of the pool within the request's deadline.
  virtual std::shared_ptr<Call> send(Request request, OnResponse done) = 0;

  // A stream has a connection of its own, not counted by the pool, closed when it ends.
  virtual std::shared_ptr<Call> stream(Request request, StreamHandler handler) = 0;
};

}  // namespace k8s
