#include "bench/replay/output/fail_if.h"

#include "bench/replay/account/figures.h"
#include "k8s-client/ascii.h"
#include "k8s-client/parse_number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

namespace bench::replay {
namespace {

std::optional<double> number(std::string_view text) {
  const auto value = k8s::parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string figure_names() {
  std::vector<std::string_view> names;
  for (const Figure& figure : all_figures()) names.push_back(figure.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

bool Condition::holds_for(double value) const {
  switch (relation) {
    case Relation::kLess:
      return value < limit;
    case Relation::kLessOrEqual:
      return value <= limit;
    case Relation::kGreater:
      return value > limit;
    case Relation::kGreaterOrEqual:
      return value >= limit;
  }
  return false;
}

k8s::Result<Condition> parse_condition(std::string_view text) {
  using Relation = Condition::Relation;
  const auto complaint = [&](const std::string& what) {
    return k8s::config_error(fmt::format("--fail-if '{}': {}", text, what));
  };
  const auto at = text.find_first_of("<>");
  if (at == std::string_view::npos) {
    return complaint("expected FIGURE, then one of > >= < <=, then a number: 'unallocated>5.0'");
  }
  const bool or_equal = at + 1 < text.size() && text[at + 1] == '=';
  const bool less = text[at] == '<';
  Condition condition{.text = std::string(text),
                      .figure = std::string(k8s::trimmed(text.substr(0, at), " "))};
  if (less) {
    condition.relation = or_equal ? Relation::kLessOrEqual : Relation::kLess;
  } else {
    condition.relation = or_equal ? Relation::kGreaterOrEqual : Relation::kGreater;
  }
  if (!is_figure(condition.figure)) {
    return complaint(
        fmt::format("there is no figure \"{}\"; there are {}", condition.figure, figure_names()));
  }
  const std::string_view limit = k8s::trimmed(text.substr(at + (or_equal ? 2 : 1)), " ");
  const auto value = number(limit);
  if (!value) return complaint(fmt::format("\"{}\" is not a number", limit));
  condition.limit = *value;
  return condition;
}

k8s::Result<std::vector<std::string>> failures(const std::vector<Condition>& conditions,
                                               const std::vector<PolicyMeans>& means) {
  std::vector<std::string> lines;
  for (const PolicyMeans& policy : means) {
    for (const Condition& condition : conditions) {
      const auto figure = policy.figures.find(condition.figure);
      if (figure == policy.figures.end()) {
        return k8s::config_error(fmt::format("--fail-if '{}': {} on {} never came so far",
                                             condition.text, policy.policy, policy.trace));
      }
      const double value = figure->second.mean;
      if (!condition.holds_for(value)) continue;
      lines.push_back(fmt::format("{} on {}: {} is {:.4f}, and fails if {}", policy.policy,
                                  policy.trace, condition.figure, value, condition.text));
    }
  }
  return lines;
}

}  // namespace bench::replay
