// A hash of a text that is equal on every machine; the standard library's is not.
#pragma once

#include <cstdint>
#include <string_view>

namespace sched {

// FNV-1a, 64 bits. Of an empty text: kEmptyTextHash.
inline constexpr std::uint64_t kEmptyTextHash = 0xcbf2'9ce4'8422'2325;

[[nodiscard]] constexpr std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = kEmptyTextHash;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01b3;
  }
  return hash;
}

}  // namespace sched
