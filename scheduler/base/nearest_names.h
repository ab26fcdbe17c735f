// Finds the name that was probably meant by a name that does not exist: for messages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// How many characters must be inserted, removed, changed or swapped with their neighbour to make
// one text the other, ignoring case (optimal string alignment). O(a · b).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The name that is at most two characters away from `written`. nullopt: there is none, or `written`
// is that name.
[[nodiscard]] std::optional<std::string_view> nearest_name(
    std::string_view written, const std::vector<std::string_view>& names);

// The `at_most` names that are most like `written`, the nearest first; equally near ones in their
// order.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view written,
                                                     const std::vector<std::string>& names,
                                                     std::size_t at_most);

}  // namespace sched
