// Base64 as in kubeconfig files and Secrets (RFC 4648 §4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace k8s::auth {

// Line ends within the text are skipped; nullopt for anything else that is not Base64, also for
// padding that is missing or in the wrong place.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

[[nodiscard]] std::string encode_base64(std::string_view bytes);

}  // namespace k8s::auth
