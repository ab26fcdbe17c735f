// What a fuzz target is: one function over any bytes, which returns, or aborts when a property that
// must hold for every input does not.
//
// Each target is one .cc file that defines fuzz_one_input. It is linked with one of two drivers:
// libFuzzer (libfuzzer_driver.cc, built by clang) to search, or our own (mutation_driver.cc, any
// compiler, the same inputs for the same seed) for the short runs among the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

void fuzz_one_input(const std::uint8_t* data, std::size_t size);

namespace fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Aborts, which both drivers report together with the input, unless `property` holds.
inline void require(bool property, const char* text) {
  if (property) return;
  std::fprintf(stderr, "property does not hold: %s\n", text);
  std::abort();
}

}  // namespace fuzz
