// The fields of selectors.
#pragma once

#include "k8s-client/api/fields/description.h"
#include "k8s-client/api/selector.h"

#include <utility>

namespace k8s {

// metav1.LabelSelectorRequirement and corev1.NodeSelectorRequirement have the same layout.
void fields(Of<SelectorRequirement> auto& requirement, auto&& field) {
  field({"key", 1}, requirement.key, Always{});
  field({"operator", 2}, requirement.op);
  field({"values", 3}, requirement.values);
}

void fields(Of<LabelSelector> auto& selector, auto&& field) {
  field({"matchLabels", 1}, selector.match_labels);
  field({"matchExpressions", 2}, selector.match_expressions);
}

void fields(Of<NodeSelectorTerm> auto& term, auto&& field) {
  field({"matchExpressions", 1}, term.match_expressions);
  field({"matchFields", 2}, term.match_fields);
}

void fields(Of<NodeSelector> auto& selector, auto&& field) {
  const auto add = [&](auto term, bool /*was_read*/) { selector.add(std::move(term)); };
  field({"nodeSelectorTerms", 1}, selector.terms, Sifted{add, true});
}

}  // namespace k8s
