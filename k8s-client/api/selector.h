// Label selectors and node selectors, and how they match.
//
// Two similar grammars of Kubernetes: metav1.LabelSelector (matchLabels AND matchExpressions;
// selects pods, namespaces) and corev1.NodeSelectorTerm (also has operators Gt and Lt, and
// matchFields; selects nodes).
#pragma once

#include "k8s-client/api/meta.h"

#include <string>
#include <string_view>
#include <vector>

namespace k8s {

enum class SelectorOperator { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt, kUnknown };

struct SelectorRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::kUnknown;
  std::vector<std::string> values;

  // kNotIn and kDoesNotExist match if the label is absent. kGt and kLt compare 64-bit integers; an
  // absent label or a value that is not an integer does not match. kUnknown never matches.
  [[nodiscard]] bool matches(const StringMap& labels) const;

  friend bool operator==(const SelectorRequirement&, const SelectorRequirement&) = default;
};

struct LabelSelector {
  StringMap match_labels;
  std::vector<SelectorRequirement> match_expressions;

  // An empty selector matches everything. (A null one, which matches nothing, is an absent
  // optional<LabelSelector>.)
  [[nodiscard]] bool matches(const StringMap& labels) const;
  // Whether Kubernetes can make a selector of it: operators of label selectors alone, with values
  // where they are compared and nowhere else. What an invalid one means depends on its object.
  // Source: metav1.LabelSelectorAsSelector.
  [[nodiscard]] bool is_valid() const;
  [[nodiscard]] bool empty() const { return match_labels.empty() && match_expressions.empty(); }

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

struct NodeSelectorTerm {
  std::vector<SelectorRequirement> match_expressions;  // over labels
  std::vector<SelectorRequirement> match_fields;       // over metadata.name

  [[nodiscard]] bool empty() const { return match_expressions.empty() && match_fields.empty(); }
  // All requirements hold. A term without any requirement matches nothing. Without a node's name,
  // requirements on it are not read: as in kube-scheduler, the node affinity of a volume is of
  // labels alone.
  [[nodiscard]] bool matches(std::string_view node_name, const StringMap& labels) const;

  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;

  // Adds a term that was read. A term without requirements matches nothing, and a tenant can write
  // one in two bytes of a pod: of all these one is kept, as the first term. (One is, because
  // kube-scheduler words a refusal differently where there is one.)
  void add(NodeSelectorTerm term);

  // Any term matches; no terms match nothing.
  [[nodiscard]] bool matches(std::string_view node_name, const StringMap& labels) const;

  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};

}  // namespace k8s
