// Detects answers that http_client accepts although they are invalid or ambiguous.
//
// http_client reads status lines and headers leniently. What Beast's parser refuses for the other
// transport is refused here, as far as it is visible from outside.
#pragma once

#include "k8s-client/http/transport.h"

#include <optional>
#include <string>

namespace k8s::http {

struct HttpVersion {
  int major = 0;
  int minor = 0;
};

// What is wrong with the head of an answer; nullopt: nothing.
[[nodiscard]] std::optional<std::string> answer_problem(const Response& head, HttpVersion version);

// True if the server will keep the connection open after that answer.
[[nodiscard]] bool keeps_alive(const Response& head, HttpVersion version);

}  // namespace k8s::http
