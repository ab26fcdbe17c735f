// What can go wrong when talking to an API server or reading what somebody wrote, as a value.
//
// Every fallible function of this library returns `Result<T>`. An Error names what was being done,
// to what, and what to do about it; it is logged once, by whoever handles it. The kind decides what
// the caller does next (retry, relist, give up); the text is for people.
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
  kDecode,      // the answer, or an input file, is not what it should be
  kConfig,      // the user's configuration or credentials are unusable
};

struct Error {
  ErrorKind kind = ErrorKind::kConfig;
  std::string message;

  // Of kStatus: the HTTP status, or the `code` of a Status object inside a watch stream.
  int http_status = 0;
  // Of kStatus: metav1.Status.reason ("Conflict", "Expired", …); empty when there was none.
  std::string reason = {};
  // Of kStatus: the server's Retry-After (integer seconds), if it sent one.
  std::optional<std::chrono::seconds> retry_after = {};
  // True if the server may have carried out the request although no answer arrived. False only
  // when that is impossible: nothing of it was sent, or the server answered.
  bool may_have_acted = false;

  // True for 410 Gone / reason Expired: the resource version asked for is no longer kept.
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

[[nodiscard]] inline tl::unexpected<Error> config_error(std::string message) {
  Error error;
  error.kind = ErrorKind::kConfig;
  error.message = std::move(message);
  return tl::unexpected<Error>(std::move(error));
}

[[nodiscard]] inline tl::unexpected<Error> decode_error(std::string message) {
  Error error;
  error.kind = ErrorKind::kDecode;
  error.message = std::move(message);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace k8s
