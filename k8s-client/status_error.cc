#include "k8s-client/status_error.h"

#include "k8s-client/parse_number.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace k8s {
namespace {

// Retry-After is honoured, but a broken proxy must not stop this client for days.
constexpr std::chrono::seconds kMaxRetryAfter{300};

constexpr std::size_t kQuotedBody = 200;

std::string_view phrase_of(int http_status) {
  switch (http_status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Request Entity Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "";
  }
}

std::string describe(int http_status, std::string_view words) {
  std::string text = std::to_string(http_status);
  if (const std::string_view phrase = phrase_of(http_status); !phrase.empty()) {
    text += ' ';
    text += phrase;
  }
  if (!words.empty()) {
    text += ": ";
    text += words;
  }
  return text;
}

// What follows "Bearer" is removed if it is as long as tokens are, because proxies quote the
// request that they refuse. Linear in the text, which a webhook may have written.
std::string without_tokens(std::string_view text) {
  constexpr std::string_view kBearer = "bearer";
  constexpr std::ptrdiff_t kShortestToken = 16;
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == ':' || c == '"'; };
  const auto ends_token = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '<' || c == ',';
  };
  std::string kept;
  kept.reserve(text.size());
  for (auto rest = text.begin();;) {
    const auto at = std::search(rest, text.end(), kBearer.begin(), kBearer.end(), same);
    if (at == text.end()) return kept.append(rest, text.end());
    const auto from = std::find_if_not(at + kBearer.size(), text.end(), is_blank);
    const auto to = std::find_if(from, text.end(), ends_token);
    kept.append(rest, to - from >= kShortestToken ? from : to);
    rest = to;
  }
}

// The beginning of a body that is not a Status, fit for one line of a log.
std::string quote(std::string_view body) {
  std::string text(body.substr(0, kQuotedBody));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// Only whole seconds, as the API server sends them; a date is ignored.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view text) {
  const auto seconds = parse_number<std::int64_t>(text);
  if (!seconds || *seconds < 0) return std::nullopt;
  return std::min(std::chrono::seconds{*seconds}, kMaxRetryAfter);
}

}  // namespace

Error status_error(const Status& status) {
  Error error;
  error.kind = ErrorKind::kStatus;
  error.http_status = status.code;
  error.reason = status.reason;
  error.may_have_acted = status.code == 408 || status.code >= 500;
  error.message = describe(status.code,
                           without_tokens(status.message.empty() ? status.reason : status.message));
  if (status.retry_after_seconds > 0) {
    error.retry_after = std::min(std::chrono::seconds{status.retry_after_seconds}, kMaxRetryAfter);
  }
  return error;
}

Error status_error(const Response& response, Decoder& decoder) {
  Status status;
  if (auto decoded = decoder.status(response.body); decoded) status = std::move(*decoded);
  if (status.message.empty() && status.reason.empty()) {
    status.message = quote(response.body);
  }
  status.code = response.status;  // the HTTP status has precedence
  Error error = status_error(status);
  if (const auto header = response.header("Retry-After")) {
    if (const auto seconds = parse_retry_after(*header)) error.retry_after = seconds;
  }
  return error;
}

}  // namespace k8s
