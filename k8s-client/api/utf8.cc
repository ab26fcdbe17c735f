#include "k8s-client/api/utf8.h"

#include <simdjson.h>

#include <algorithm>

namespace k8s {
namespace {

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// By the first byte of a character: how many it has, and in which range the second one is, which
// leaves out longer forms than needed, halves of pairs and what is beyond U+10FFFF. Size 0: it
// begins none. (The Unicode Standard, table 3-7.)
struct Form {
  std::size_t size;
  unsigned char least = 0x80;
  unsigned char most = 0xbf;
};
Form form_of(unsigned char first) {
  if (first < 0x80) return {.size = 1};
  if (first < 0xc2 || first > 0xf4) return {.size = 0};
  if (first < 0xe0) return {.size = 2};
  if (first == 0xe0) return {.size = 3, .least = 0xa0};
  if (first == 0xed) return {.size = 3, .most = 0x9f};
  if (first < 0xf0) return {.size = 3};
  if (first == 0xf0) return {.size = 4, .least = 0x90};
  if (first == 0xf4) return {.size = 4, .most = 0x8f};
  return {.size = 4};
}

// How many of the first bytes are one character; 0: they are not one.
std::size_t character_at(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const Form form = form_of(byte(0));
  if (form.size > text.size()) return 0;
  if (form.size > 1 && (byte(1) < form.least || byte(1) > form.most)) return 0;
  for (std::size_t at = 2; at < form.size; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return 0;
  }
  return form.size;
}

}  // namespace

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string repaired(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto* const plain_end = std::find_if_not(text.begin(), text.end(), is_ascii);
    const auto plain = static_cast<std::size_t>(plain_end - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t size = character_at(text);
    out += size == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

}  // namespace k8s
