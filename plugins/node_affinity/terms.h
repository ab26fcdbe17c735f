// Node selector terms as kube-scheduler takes them: those it cannot read match nothing.
//
// An API server of today refuses most unreadable terms, one of yesterday stored them.
// kube-scheduler passes over such a term of a pod, even one that would match by its letter (NotIn
// without values).
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

// The only nodes that come into question, by name, sorted, when every term of the selector names
// some in matchFields; nullopt when one does not. An empty list: the terms contradict themselves.
[[nodiscard]] std::optional<std::vector<std::string>> named_nodes(
    const k8s::NodeSelector& selector);

}  // namespace plugins
