#include "k8s-client/api/selector.h"

#include "k8s-client/parse_number.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace k8s {
namespace {

constexpr std::string_view kNameField = "metadata.name";

// Go's strconv.ParseInt(text, 10, 64).
std::optional<std::int64_t> parse_int(std::string_view text) {
  const bool plus = text.starts_with('+');
  if (plus) text.remove_prefix(1);
  if (plus && text.starts_with('-')) return std::nullopt;
  return parse_number<std::int64_t>(text);
}

bool contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool compares(const SelectorRequirement& requirement, const std::string* label) {
  if (label == nullptr || requirement.values.size() != 1) return false;
  const auto left = parse_int(*label);
  const auto right = parse_int(requirement.values.front());
  if (!left || !right) return false;
  return requirement.op == SelectorOperator::kGt ? *left > *right : *left < *right;
}

// A node has one field here, its name, and a requirement on it has exactly one value
// (component-helpers, nodeaffinity.go); any other requirement matches nothing.
bool matches_field(const SelectorRequirement& requirement, std::string_view node_name) {
  if (requirement.key != kNameField || requirement.values.size() != 1) return false;
  const bool same = requirement.values.front() == node_name;
  if (requirement.op == SelectorOperator::kIn) return same;
  return requirement.op == SelectorOperator::kNotIn && !same;
}

// A requirement on labels that is valid upstream.
bool is_valid_for_labels(const SelectorRequirement& requirement) {
  switch (requirement.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      return !requirement.values.empty();
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      return requirement.values.empty();
    default:
      return false;
  }
}

bool all_match(const std::vector<SelectorRequirement>& requirements, const StringMap& labels) {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const auto& requirement) { return requirement.matches(labels); });
}

}  // namespace

bool SelectorRequirement::matches(const StringMap& labels) const {
  const std::string* label = labels.find(key);
  switch (op) {
    case SelectorOperator::kIn:
      return label != nullptr && contains(values, *label);
    case SelectorOperator::kNotIn:
      // Without values the requirement is invalid upstream, and selects nothing.
      return !values.empty() && (label == nullptr || !contains(values, *label));
    case SelectorOperator::kExists:
      return label != nullptr;
    case SelectorOperator::kDoesNotExist:
      return label == nullptr;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      return compares(*this, label);
    case SelectorOperator::kUnknown:
      break;
  }
  return false;
}

bool LabelSelector::matches(const StringMap& labels) const {
  const bool labels_match =
      std::all_of(match_labels.begin(), match_labels.end(), [&](const auto& entry) {
        const std::string* label = labels.find(entry.first);
        return label != nullptr && *label == entry.second;
      });
  return labels_match && all_match(match_expressions, labels);
}

bool LabelSelector::is_valid() const {
  return std::all_of(match_expressions.begin(), match_expressions.end(), is_valid_for_labels);
}

bool NodeSelectorTerm::matches(std::string_view node_name, const StringMap& labels) const {
  if (empty() || !all_match(match_expressions, labels)) return false;
  if (node_name.empty()) return true;
  return std::all_of(match_fields.begin(), match_fields.end(), [&](const auto& requirement) {
    return matches_field(requirement, node_name);
  });
}

void NodeSelector::add(NodeSelectorTerm term) {
  if (!term.empty()) {
    terms.push_back(std::move(term));
  } else if (terms.empty() || !terms.front().empty()) {
    terms.insert(terms.begin(), std::move(term));
  }
}

bool NodeSelector::matches(std::string_view node_name, const StringMap& labels) const {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const auto& term) { return term.matches(node_name, labels); });
}

}  // namespace k8s
