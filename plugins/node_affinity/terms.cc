#include "plugins/node_affinity/terms.h"

#include "k8s-client/parse_number.h"
#include "scheduler/base/qualified_name.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

namespace plugins {

namespace {

using k8s::NodeSelectorTerm;
using k8s::SelectorOperator;
using k8s::SelectorRequirement;

bool is_integer(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  return k8s::parse_number<std::int64_t>(text).has_value();
}

std::optional<std::string> problem_of_values(const SelectorRequirement& requirement) {
  switch (requirement.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      if (requirement.values.empty()) return "needs at least one value";
      return std::nullopt;
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      if (!requirement.values.empty()) return "takes no values";
      return std::nullopt;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      if (requirement.values.size() != 1) return "needs exactly one value";
      if (!is_integer(requirement.values.front())) return "needs an integer";
      return std::nullopt;
    case SelectorOperator::kUnknown:
      return "has an unknown operator";
  }
  return std::nullopt;
}

std::optional<std::string> problem_of_expression(const SelectorRequirement& requirement) {
  if (!sched::is_qualified_name(requirement.key)) return "is not a label's name";
  if (auto problem = problem_of_values(requirement)) return problem;
  for (const std::string& value : requirement.values) {
    if (!sched::is_label_value(value)) return "cannot be compared with '" + value + "'";
  }
  return std::nullopt;
}

std::optional<std::string> problem_of_field(const SelectorRequirement& requirement) {
  if (requirement.op != SelectorOperator::kIn && requirement.op != SelectorOperator::kNotIn) {
    return "takes only the operators In and NotIn";
  }
  if (requirement.values.size() != 1) return "needs exactly one value";
  return std::nullopt;
}

// The names that the term's matchFields allow; nullopt if they name none.
std::optional<std::set<std::string>> names_of(const NodeSelectorTerm& term) {
  std::optional<std::set<std::string>> names;
  for (const SelectorRequirement& field : term.match_fields) {
    if (field.key != "metadata.name" || field.op != SelectorOperator::kIn) continue;
    std::set<std::string> values(field.values.begin(), field.values.end());
    if (!names) {
      names = std::move(values);
    } else {
      std::erase_if(*names, [&](const std::string& name) { return !values.contains(name); });
    }
  }
  return names;
}

}  // namespace

std::optional<std::string> problem_of(const NodeSelectorTerm& term) {
  for (const SelectorRequirement& requirement : term.match_expressions) {
    if (const auto problem = problem_of_expression(requirement)) {
      return "'" + requirement.key + "' " + *problem;
    }
  }
  for (const SelectorRequirement& requirement : term.match_fields) {
    if (const auto problem = problem_of_field(requirement)) {
      return "'" + requirement.key + "' " + *problem;
    }
  }
  return std::nullopt;
}

k8s::NodeSelector usable_terms(const k8s::NodeSelector& selector) {
  k8s::NodeSelector usable;
  for (const NodeSelectorTerm& term : selector.terms) {
    const bool empty = term.match_expressions.empty() && term.match_fields.empty();
    if (!empty && !problem_of(term)) usable.terms.push_back(term);
  }
  return usable;
}

std::optional<std::vector<std::string>> named_nodes(const k8s::NodeSelector& selector) {
  if (selector.terms.empty()) return std::nullopt;
  std::set<std::string> all;
  for (const NodeSelectorTerm& term : selector.terms) {
    const auto names = names_of(term);
    if (!names) return std::nullopt;
    all.insert(names->begin(), names->end());
  }
  return std::vector<std::string>(all.begin(), all.end());
}

}  // namespace plugins
