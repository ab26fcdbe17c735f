// How much memory the program has allocated and not freed.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace bench::decide {

// Bytes, counted by the allocator (with its own overhead per block). 0 if another allocator is
// used, as with sanitizers.
[[nodiscard]] inline std::size_t heap_bytes() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace bench::decide
