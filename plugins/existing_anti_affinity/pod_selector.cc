#include "plugins/existing_anti_affinity/pod_selector.h"

#include <algorithm>

namespace plugins {

namespace {

// Length first, so that different values never read alike.
void append(std::string& key, const std::string& value) {
  key.append(std::to_string(value.size())).append(":").append(value);
}

void append(std::string& key, const std::optional<k8s::LabelSelector>& selector) {
  if (!selector) {
    key += "-";
    return;
  }
  key += "l" + std::to_string(selector->match_labels.size());
  for (const auto& [name, value] : selector->match_labels) {
    append(key, name);
    append(key, value);
  }
  key += "e" + std::to_string(selector->match_expressions.size());
  for (const k8s::SelectorRequirement& requirement : selector->match_expressions) {
    append(key, requirement.key);
    key += std::to_string(static_cast<int>(requirement.op)) + "v" +
           std::to_string(requirement.values.size());
    for (const std::string& value : requirement.values) append(key, value);
  }
}

}  // namespace

PodSelector::PodSelector(const k8s::PodAffinityTerm& term, const std::string& own_namespace)
    : pods_(term.label_selector),
      namespaces_(term.namespaces),
      of_namespace_(term.namespace_selector) {
  if (namespaces_.empty() && !of_namespace_) namespaces_.push_back(own_namespace);
  std::sort(namespaces_.begin(), namespaces_.end());
  for (const std::string& name : namespaces_) append(key_, name);
  append(key_, of_namespace_);
  append(key_, pods_);
}

bool PodSelector::selects(const k8s::Pod& pod, const k8s::StringMap& namespace_labels) const {
  const bool in_scope =
      std::binary_search(namespaces_.begin(), namespaces_.end(), pod.metadata.namespace_) ||
      (of_namespace_ && of_namespace_->matches(namespace_labels));
  return in_scope && pods_ && pods_->matches(pod.metadata.labels);
}

}  // namespace plugins
