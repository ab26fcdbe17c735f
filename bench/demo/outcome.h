// The outcome of a pod, as the demo prints it.
#pragma once

#include <string>

namespace bench {

struct Outcome {
  std::string pod;   // its name; the demo has one namespace
  std::string node;  // empty: it waits
  // Of a bound pod: the total and the part of each plugin, "1730 = GpuPacking 12·10 + …".
  std::string scores;
  // Of a waiting pod: its message with the numbers behind it.
  std::string message;

  [[nodiscard]] bool waits() const { return node.empty(); }
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

}  // namespace bench
