#include "k8s-client/auth/base64.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace k8s::auth {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  std::size_t digits = 0;  // of all groups together
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const auto value = kAlphabet.find(c);
    if (value == std::string_view::npos || padding > 0) return std::nullopt;
    group = (group << 6 | static_cast<std::uint32_t>(value)) & 0xffffff;
    if (++digits % 4 == 0) {
      for (const int shift : {16, 8, 0})
        decoded.push_back(static_cast<char>(group >> shift & 0xff));
    }
  }
  const std::size_t rest = digits % 4;
  if ((digits + padding) % 4 != 0 || padding > 2 || rest == 1) return std::nullopt;
  if (rest >= 2) {
    group <<= 6 * (4 - rest);
    decoded.push_back(static_cast<char>(group >> 16 & 0xff));
    if (rest == 3) decoded.push_back(static_cast<char>(group >> 8 & 0xff));
  }
  return decoded;
}

std::string encode_base64(std::string_view bytes) {
  std::string encoded;
  encoded.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      encoded.push_back(i <= count ? kAlphabet[group >> (18 - 6 * i) & 0x3f] : '=');
    }
  }
  return encoded;
}

}  // namespace k8s::auth
