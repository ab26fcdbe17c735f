// The output of a credential plugin: an ExecCredential.
#pragma once

#include "k8s-client/error.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace k8s::auth {

// A token, or a client certificate with its key (PEM), or both.
struct ExecCredential {
  std::optional<std::string> token;
  std::string certificate_pem;
  std::string key_pem;
  std::optional<std::chrono::system_clock::time_point> expires;  // nullopt: it does not expire
};

// `text` as the ExecCredential of `api_version`. kDecode with the error and its place, but never
// with any part of the text, which is secret.
[[nodiscard]] Result<ExecCredential> parse_exec_credential(std::string_view text,
                                                           const std::string& api_version);

}  // namespace k8s::auth
