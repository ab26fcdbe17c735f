#include "k8s-client/http/cpprest/answer_check.h"

#include "k8s-client/ascii.h"
#include "k8s-client/parse_number.h"

#include <cstdint>
#include <string_view>

namespace k8s::http {
namespace {

// As for the other transport.
constexpr std::size_t kHeaderLimit = 64 * 1024;

bool is_number(std::string_view text) { return parse_number<std::uint64_t>(text).has_value(); }

bool is(std::optional<std::string_view> value, std::string_view wanted) {
  return value && equal_without_case(*value, wanted);
}

std::size_t header_size(const Response& head) {
  std::size_t size = 0;
  for (const auto& [name, value] : head.headers) size += name.size() + value.size();
  return size;
}

}  // namespace

std::optional<std::string> answer_problem(const Response& head, HttpVersion version) {
  if (version.major != 1 || version.minor > 1) return "not HTTP/1.1";
  if (head.status < 200) return "an interim answer, which cpprestsdk takes for the last one";
  if (head.status > 999) return "not a status";
  if (header_size(head) > kHeaderLimit) return "the header is too large";
  const auto length = head.header("Content-Length");
  const auto encoding = head.header("Transfer-Encoding");
  if (length && encoding) return "both a length and a transfer encoding";
  // From two lengths http_client makes "1, 2".
  if (length && !is_number(*length)) return "the content length is not a number";
  if (encoding && !is(encoding, "chunked")) return "a transfer encoding other than chunked";
  return std::nullopt;
}

bool keeps_alive(const Response& head, HttpVersion version) {
  const auto connection = head.header("Connection");
  if (version.minor == 0) return is(connection, "keep-alive");
  return !is(connection, "close");
}

}  // namespace k8s::http
