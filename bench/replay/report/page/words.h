// Names of policies, arrivals and GPU models as a person says them.
#pragma once

#include <string>
#include <string_view>

namespace bench::replay::page {

// "fragmentation gradient descent" for the built-in "fgd"; of a policy of a file its name with
// spaces for "_".
[[nodiscard]] std::string policy_words(std::string_view name);

// "each pod at its own time" for "trace"; what is not known as it is.
[[nodiscard]] std::string arrival_words(std::string_view arrival);

// "NVIDIA H100 80GB HBM3" for NVIDIA's label "NVIDIA-H100-80GB-HBM3".
[[nodiscard]] std::string model_words(std::string_view product);

// "a", "a and b", "a, b and c".
template <typename Items>
std::string listed(const Items& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  return text;
}

}  // namespace bench::replay::page
