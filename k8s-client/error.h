// What can fail when communicating with an API server or reading a user's input, as a value.
//
// Every fallible function of this library returns `Result<T>`. An Error names what was being done,
// to what, and what to do about it; it is logged once, where it is handled. The kind decides what
// the caller does next (retry, relist, give up); the text is for people. What an error means for
// the request that it ended is defined only here: callers add only what is special to their calls.
#pragma once

#include <tl/expected.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace k8s {

enum class ErrorKind {
  kCancelled,   // the caller cancelled, or the client is shutting down
  kConnect,     // no connection: refused, unreachable, name not resolved
  kTls,         // certificate not trusted, host name mismatch, handshake failed
  kTimeout,     // the request's deadline, or a stream's idle limit, has passed
  kConnection,  // an established connection broke off, or answered with broken HTTP
  kStatus,      // the server answered with an error; see http_status and reason
  kTooLarge,    // the answer's body is longer than the request allows
  kDecode,      // the answer, or an input file, is malformed
  kConfig,      // the user's configuration or credentials are unusable
};

struct Error {
  ErrorKind kind = ErrorKind::kConfig;
  std::string message;

  // For kStatus: the HTTP status, or the `code` of a Status object in a watch stream.
  int http_status = 0;
  // For kStatus: metav1.Status.reason ("Conflict", "Expired", …); empty if there was none.
  std::string reason = {};
  // For kStatus: the server's Retry-After (integer seconds), if it sent one.
  std::optional<std::chrono::seconds> retry_after = {};
  // True if the server may have carried out the request, or may still do so: no answer came, or the
  // answer does not decide it. 5xx and 408 do not decide it. A 504 is the server's own time-out,
  // while the write may still reach the storage. A 502 or 503 can come from a proxy in front of a
  // server that has acted. False only if that is impossible: nothing was sent, or the server
  // refused.
  bool may_have_acted = false;
  // True if nothing was sent, because the last moment for that (Request::send_by) had passed.
  bool too_late = false;

  // An answer with this HTTP status.
  [[nodiscard]] bool is_status(int status) const {
    return kind == ErrorKind::kStatus && http_status == status;
  }

  // No answer from the server: no connection, a broken connection, or silence for too long.
  [[nodiscard]] bool got_no_answer() const {
    return kind == ErrorKind::kConnect || kind == ErrorKind::kTls || kind == ErrorKind::kTimeout ||
           kind == ErrorKind::kConnection;
  }

  // The server is too busy, or not up yet: the request can succeed later (see retry_after).
  [[nodiscard]] bool asks_for_patience() const { return is_status(429) || is_status(503); }

  // The same request may well succeed later without any change on this side.
  [[nodiscard]] bool is_passing() const {
    return got_no_answer() || is_status(408) || is_status(429) ||
           (kind == ErrorKind::kStatus && http_status >= 500);
  }

  // The API server says that there is no such object.
  [[nodiscard]] bool is_not_found() const { return is_status(404) && reason == "NotFound"; }

  // A 404 without that reason, for a kind that every server has. The API server did not send it: a
  // load balancer or proxy on the way to it did, for example because no server is up. It says
  // nothing about the object.
  [[nodiscard]] bool is_misrouted() const { return is_status(404) && !is_not_found(); }

  // True for 410 Gone, or the reason Expired: the requested resource version is no longer stored.
  [[nodiscard]] bool is_expired() const {
    return kind == ErrorKind::kStatus && (http_status == 410 || reason == "Expired");
  }
};

template <typename T>
using Result = tl::expected<T, Error>;

// "could not read x" + ": " + the error's own text: adds what was being done, keeps the kind.
[[nodiscard]] inline Error with_context(Error error, const std::string& doing) {
  error.message = doing + ": " + error.message;
  return error;
}

[[nodiscard]] inline Error make_error(ErrorKind kind, std::string message) {
  Error error;
  error.kind = kind;
  error.message = std::move(message);
  return error;
}

[[nodiscard]] inline tl::unexpected<Error> config_error(std::string message) {
  return tl::unexpected<Error>(make_error(ErrorKind::kConfig, std::move(message)));
}

[[nodiscard]] inline tl::unexpected<Error> decode_error(std::string message) {
  return tl::unexpected<Error>(make_error(ErrorKind::kDecode, std::move(message)));
}

}  // namespace k8s
