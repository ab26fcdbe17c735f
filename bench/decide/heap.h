// How much memory the program has asked for and not given back.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace bench::decide {

// Bytes, counted by the allocator (its own overhead per block included). 0 where another allocator
// has taken its place, as sanitizers' do.
[[nodiscard]] inline std::size_t heap_bytes() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace bench::decide
