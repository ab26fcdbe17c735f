#include "scheduler/server/query.h"

#include "k8s-client/shown.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace sched::server {

namespace {

std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at] == '+' ? ' ' : text[at];
      continue;
    }
    const std::string_view digits = text.substr(at + 1, 2);
    unsigned char byte = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) return std::nullopt;
    plain += static_cast<char>(byte);
    at += 2;
  }
  return plain;
}

}  // namespace

tl::expected<Query, std::string> parse_query(std::string_view query) {
  Query parameters;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    auto name = decoded(pair.substr(0, equals));
    auto value =
        decoded(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1));
    if (!name || !value) {
      return tl::unexpected(
          fmt::format("\"{}\": behind a % there must be two hexadecimal digits", k8s::shown(pair)));
    }
    if (parameters.contains(*name)) {
      return tl::unexpected(
          fmt::format("\"{}\" stands there more than once", k8s::shown(pair.substr(0, equals))));
    }
    parameters.emplace(*std::move(name), *std::move(value));
  }
  return parameters;
}

}  // namespace sched::server
