#include "scheduler/base/nearest_names.h"

#include <algorithm>
#include <cctype>

namespace sched {

namespace {

constexpr std::size_t kSlip = 2;
// Longer names are not typing errors; the limit bounds the work for them.
constexpr std::size_t kLongest = 128;

// A lower bound of the edit distance.
std::size_t difference_in_length(std::string_view a, std::string_view b) {
  const std::size_t of_a = std::min(a.size(), kLongest);
  const std::size_t of_b = std::min(b.size(), kLongest);
  return of_a > of_b ? of_a - of_b : of_b - of_a;
}

char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongest);
  b = b.substr(0, kLongest);
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = upper(a[i - 1]) == upper(b[j - 1]);
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && upper(a[i - 1]) == upper(b[j - 2]) &&
                           upper(a[i - 2]) == upper(b[j - 1]);
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::optional<std::string_view> nearest_name(std::string_view written,
                                             const std::vector<std::string_view>& names) {
  std::optional<std::string_view> nearest;
  std::size_t least = kSlip + 1;
  for (const std::string_view name : names) {
    if (name == written) return std::nullopt;
    if (difference_in_length(written, name) >= least) continue;
    const std::size_t distance = edit_distance(written, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

std::vector<std::string> nearest_names(std::string_view written,
                                       const std::vector<std::string>& names, std::size_t at_most) {
  std::vector<std::pair<std::size_t, const std::string*>> by_distance;
  for (const std::string& name : names)
    by_distance.emplace_back(edit_distance(written, name), &name);
  std::stable_sort(by_distance.begin(), by_distance.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (const auto& [distance, name] : by_distance) {
    if (nearest.size() == at_most) break;
    nearest.push_back(*name);
  }
  return nearest;
}

}  // namespace sched
