// A place in a row, for people: "1st", "2nd", "11th".
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace sched {

// `place`: from 1.
[[nodiscard]] inline std::string ordinal(std::size_t place) {
  constexpr std::array kEndings = {"th", "st", "nd", "rd"};
  const bool teen = place % 100 >= 11 && place % 100 <= 13;
  const std::size_t ending = teen || place % 10 > 3 ? 0 : place % 10;
  return std::to_string(place) + kEndings[ending];
}

}  // namespace sched
