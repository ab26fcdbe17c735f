// Joins sentences.
#pragma once

#include <string>
#include <utility>

namespace sched {

// Both, with a blank between them if neither is empty.
[[nodiscard]] inline std::string joined(std::string a, const std::string& b) {
  if (!a.empty() && !b.empty()) a += ' ';
  return std::move(a) + b;
}

}  // namespace sched
