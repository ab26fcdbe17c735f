#include "k8s-client/http/transport.h"

#include "k8s-client/ascii.h"

namespace k8s {

std::string_view to_string(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
  }
  return "?";
}

std::optional<std::string_view> Response::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equal_without_case(key, name)) return value;
  }
  return std::nullopt;
}

}  // namespace k8s
