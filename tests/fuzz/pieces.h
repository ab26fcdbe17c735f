// Bytes in pieces, as a socket delivers them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fuzz {

// Calls `visit` with one piece after the other, until it returns false or all is visited. `cut`
// says where the cuts are: 0 makes one piece, other values pieces of 1 … 32 bytes, each its own
// way.
template <typename Visit>
void in_pieces(std::string_view bytes, std::uint8_t cut, Visit visit) {
  std::uint32_t state = cut;
  while (!bytes.empty()) {
    state = state * 1'664'525U + 1'013'904'223U;
    const std::size_t size =
        cut == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 1 + (state >> 27));
    if (!visit(bytes.substr(0, size))) return;
    bytes.remove_prefix(size);
  }
}

}  // namespace fuzz
