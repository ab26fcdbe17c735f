#include "bench/replay/report/published.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <utility>

namespace bench::replay {

extern const std::string_view kOpenbPublished;  // openb_published.csv

namespace {

// Cuts `text` off after the next `mark` and returns what was before it; all of it, if there is
// none.
std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

std::vector<double> numbers_of(std::string_view row) {
  std::vector<double> numbers;
  while (!row.empty()) {
    const std::string_view field = take_until(row, ',');
    double number = 0;
    std::from_chars(field.data(), field.data() + field.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

using Curves = std::map<std::string, std::vector<PublishedCurve>, std::less<>>;

// Rows come in pairs: the means of a policy on a trace, then the deviations.
Curves parse(std::string_view csv) {
  Curves curves;
  take_until(csv, '\n');
  while (!csv.empty()) {
    std::string_view row = take_until(csv, '\n');
    std::vector<PublishedCurve>& of_trace = curves[std::string(take_until(row, ','))];
    const std::string_view policy = take_until(row, ',');
    if (take_until(row, ',') == "mean") {
      of_trace.push_back({std::string(policy), numbers_of(row), {}});
    } else {
      of_trace.back().deviation = numbers_of(row);
    }
  }
  return curves;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNames{{
    {"best_fit", "BestFit"},
    {"dot_prod", "DotProd"},
    {"fgd", "FGD"},
    {"gpu_clustering", "GpuClustering"},
    {"gpu_packing", "GpuPacking"},
    {"random", "Random"},
}};

}  // namespace

const std::vector<PublishedCurve>& published_curves(std::string_view trace) {
  static const Curves curves = parse(kOpenbPublished);
  static const std::vector<PublishedCurve> none;
  const auto found = curves.find(trace);
  return found == curves.end() ? none : found->second;
}

std::string_view published_name(std::string_view policy) {
  for (const auto& [ours, theirs] : kNames) {
    if (ours == policy) return theirs;
  }
  return {};
}

std::string_view policy_published_as(std::string_view name) {
  for (const auto& [ours, theirs] : kNames) {
    if (theirs == name) return ours;
  }
  return {};
}

}  // namespace bench::replay
