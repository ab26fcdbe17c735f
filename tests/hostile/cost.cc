#include "tests/hostile/cost.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <ostream>

namespace {

thread_local std::int64_t steps = 0;
thread_local std::int64_t held = 0;
thread_local std::int64_t most_held = 0;

std::int64_t size_of(void* memory) { return static_cast<std::int64_t>(malloc_usable_size(memory)); }

}  // namespace

// Weak, since libFuzzer has one that refuses to be called; nothing calls it where that is linked.
extern "C" __attribute__((weak)) void __sanitizer_cov_trace_pc() { ++steps; }

void* operator new(std::size_t size) {
  void* const memory = std::malloc(std::max<std::size_t>(size, 1));
  if (memory == nullptr) std::abort();
  held += size_of(memory);
  most_held = std::max(most_held, held);
  return memory;
}

void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return operator new(size);
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) held -= size_of(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }

// The standard library's call those above; a sanitizer's do not.
void* operator new[](std::size_t size) { return operator new(size); }

void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return operator new(size);
}

void operator delete[](void* memory) noexcept { operator delete(memory); }

void operator delete[](void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }

namespace tests {

bool is_within_budget(const Cost& cost, std::size_t bytes) {
  constexpr std::int64_t kStepsOfAnyPod = 400'000;
  constexpr std::int64_t kBytesOfAnyPod = 64 * 1024;
  const auto size = static_cast<std::int64_t>(bytes);
  return cost.steps <= kStepsOfAnyPod + kMostSteps * size &&
         cost.peak_bytes <= kBytesOfAnyPod + kMostPeakBytes * size &&
         cost.kept_bytes <= kBytesOfAnyPod + kMostKeptBytes * size;
}

std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.steps << " steps, at most " << cost.peak_bytes << " bytes held, "
             << cost.kept_bytes << " kept";
}

Cost cost_of(const std::function<void()>& work) {
  const std::int64_t steps_before = steps;
  const std::int64_t held_before = held;
  most_held = held;
  work();
  return {.steps = steps - steps_before,
          .peak_bytes = most_held - held_before,
          .kept_bytes = held - held_before};
}

}  // namespace tests
