// Builds the path and query of a request, percent-encoded.
//
//   RequestTarget("/api/v1/namespaces").segment("ml").segment("pods").query("limit", "500").text()
//
// Names come from the cluster and selectors from configuration: whatever they contain, they stay
// within their segment or value.
#pragma once

#include <string>
#include <string_view>

namespace k8s {

// Every character except the unreserved ones of RFC 3986 as %XX.
[[nodiscard]] std::string percent_encode(std::string_view text);

class RequestTarget {
 public:
  // `path` is used unchanged.
  explicit RequestTarget(std::string_view path) : text_(path) {}

  RequestTarget& segment(std::string_view name);
  RequestTarget& query(std::string_view key, std::string_view value);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool has_query_ = false;
};

}  // namespace k8s
