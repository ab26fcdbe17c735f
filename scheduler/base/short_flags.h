// Flags of one letter as kubectl and kube-scheduler take them: "-n=team" is "-n team". CLI11 takes
// "=team" for the value.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sched {

// The arguments of a program, without its name, in the same order. What follows "--" is no flag.
[[nodiscard]] inline std::vector<std::string> with_short_flags_split(
    std::vector<std::string> arguments) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::vector<std::string> split;
  bool flags = true;
  for (std::string& argument : arguments) {
    if (argument == "--") flags = false;
    if (flags && argument.size() > 2 && argument[0] == '-' && is_letter(argument[1]) &&
        argument[2] == '=') {
      split.push_back(argument.substr(0, 2));
      argument.erase(0, 3);
    }
    split.push_back(std::move(argument));
  }
  return split;
}

}  // namespace sched
