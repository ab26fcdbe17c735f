// Node selector terms as kube-scheduler reads them: terms that it cannot read match nothing.
//
// A present API server refuses most unreadable terms, older ones stored them. kube-scheduler skips
// such a term of a pod, even one that would literally match (NotIn without values).
#pragma once

#include "k8s-client/api/selector.h"

#include <optional>
#include <string>
#include <vector>

namespace plugins {

// Why kube-scheduler cannot read the term; nullopt: it can.
// Source: k8s.io/component-helpers scheduling/corev1/nodeaffinity.
[[nodiscard]] std::optional<std::string> problem_of(const k8s::NodeSelectorTerm& term);

// The terms that can match some node: neither empty nor unreadable.
[[nodiscard]] k8s::NodeSelector usable_terms(const k8s::NodeSelector& selector);

// The only nodes in question, by name, sorted, if every term of the selector names some in
// matchFields; nullopt if one does not. An empty list: the terms contradict each other.
[[nodiscard]] std::optional<std::vector<std::string>> named_nodes(
    const k8s::NodeSelector& selector);

}  // namespace plugins
