// An unexpected answer as an Error with the server's own message.
#pragma once

#include "k8s-client/api/decode.h"
#include "k8s-client/error.h"
#include "k8s-client/http/transport.h"

#include <chrono>

namespace k8s {

[[nodiscard]] inline bool is_success(const Response& response) {
  return response.status >= 200 && response.status < 300;
}

// The Error of an answer outside 2xx: "409 Conflict: <message of the Status in its body>", with the
// reason, Retry-After and whether the server may have acted nevertheless. A body that is not a
// Status (a proxy's page) is quoted in part.
[[nodiscard]] Error status_error(const Response& response, Decoder& decoder);

// The Error of an ERROR event of a watch: its HTTP status is the code of the Status.
[[nodiscard]] Error status_error(const Status& status);

}  // namespace k8s
