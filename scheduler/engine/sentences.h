// Joins sentences.
#pragma once

#include <string>
#include <utility>

namespace sched {

// Both, with a blank between them if neither is empty. What quotas say, and some notes, have no
// full stop at their end: they get one if something follows.
[[nodiscard]] inline std::string joined(std::string a, const std::string& b) {
  if (!a.empty() && !b.empty()) a += a.ends_with('.') ? " " : ". ";
  return std::move(a) + b;
}

}  // namespace sched
