#include "plugins/support/pod_selector.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdlib>

namespace plugins {

// Length first, so that different values never give the same text.
void append_key(std::string& key, const std::string& value) {
  key.append(std::to_string(value.size())).append(":").append(value);
}

void append_key(std::string& key, const k8s::StringMap& entries) {
  key += "m" + std::to_string(entries.size());
  for (const auto& [name, value] : entries) {
    append_key(key, name);
    append_key(key, value);
  }
}

void append_key(std::string& key, const std::vector<k8s::SelectorRequirement>& requirements) {
  key += "e" + std::to_string(requirements.size());
  for (const k8s::SelectorRequirement& requirement : requirements) {
    append_key(key, requirement.key);
    key += std::to_string(static_cast<int>(requirement.op)) + "v" +
           std::to_string(requirement.values.size());
    for (const std::string& value : requirement.values) append_key(key, value);
  }
}

void append_key(std::string& key, const std::optional<k8s::LabelSelector>& selector) {
  if (!selector) {
    key += "-";
    return;
  }
  append_key(key, selector->match_labels);
  append_key(key, selector->match_expressions);
}

std::string digest_if_long(std::string text) {
  constexpr std::size_t kLong = 1'024;
  if (text.size() <= kLong) return text;
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  // It cannot fail: the algorithm is built in.
  if (EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha256(), nullptr) != 1) {
    std::abort();
  }
  digest.resize(size);
  return digest;
}

PodSelector::PodSelector(const k8s::PodAffinityTerm& term, const std::string& own_namespace)
    : pods_(term.label_selector),
      namespaces_(term.namespaces),
      of_namespace_(term.namespace_selector) {
  if (namespaces_.empty() && !of_namespace_) namespaces_.push_back(own_namespace);
  std::sort(namespaces_.begin(), namespaces_.end());
  for (const std::string& name : namespaces_) append_key(key_, name);
  append_key(key_, of_namespace_);
  append_key(key_, pods_);
}

bool PodSelector::in_scope(const std::string& namespace_,
                           const k8s::StringMap& namespace_labels) const {
  return std::binary_search(namespaces_.begin(), namespaces_.end(), namespace_) ||
         (of_namespace_ && of_namespace_->matches(namespace_labels));
}

}  // namespace plugins
