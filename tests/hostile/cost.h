// What a piece of work costs, in figures that are the same on every machine and in every run.
//
// Steps are basic blocks that ran, of the sources that are compiled to count them (CMakeLists.txt).
// A block of code in libraries is not counted: searching a list is seen, comparing two strings is
// not. Bytes are those that operator new gives out, as the allocator rounds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>

namespace tests {

struct Cost {
  std::int64_t steps = 0;
  std::int64_t peak_bytes = 0;  // the most that was held at a time
  std::int64_t kept_bytes = 0;  // what is still held at the end
};

// What a pod may cost for each of its bytes, as the API server would show it. An ordinary pod costs
// 5 steps a byte (pod_cost_test.cc).
inline constexpr std::int64_t kMostSteps = 120;
inline constexpr std::int64_t kMostPeakBytes = 12;
inline constexpr std::int64_t kMostKeptBytes = 6;

// Whether a pod of so many bytes, which may be few, may cost that. Besides what it may cost by its
// bytes there is what any pod may: 16 annotations with names that are nearly ours are compared with
// each of ours, and lists that grow have room for more.
[[nodiscard]] bool is_within_budget(const Cost& cost, std::size_t bytes);

std::ostream& operator<<(std::ostream& out, const Cost& cost);

// Of one call, on this thread. Not to be nested.
[[nodiscard]] Cost cost_of(const std::function<void()>& work);

}  // namespace tests
