#include "k8s-client/api/protobuf/text.h"

#include <simdjson.h>

#include <algorithm>

namespace k8s::protobuf {
namespace {

// How many of the first bytes are one character of UTF-8; 0: they are not one.
std::size_t character_at(std::string_view text) {
  for (std::size_t size = 1; size <= 4 && size <= text.size(); ++size) {
    if (is_utf8(text.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string repaired(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = character_at(text);
    out += size == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

}  // namespace k8s::protobuf
