#include "k8s-client/request_target.h"

namespace k8s {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kHex[byte >> 4];
    encoded += kHex[byte & 0xF];
  }
  return encoded;
}

RequestTarget& RequestTarget::segment(std::string_view name) {
  text_ += '/';
  text_ += percent_encode(name);
  return *this;
}

RequestTarget& RequestTarget::query(std::string_view key, std::string_view value) {
  text_ += has_query_ ? '&' : '?';
  has_query_ = true;
  text_ += percent_encode(key);
  text_ += '=';
  text_ += percent_encode(value);
  return *this;
}

}  // namespace k8s
