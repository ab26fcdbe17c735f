#include "plugins/pod_topology_spread/default_selectors.h"

#include "plugins/support/pod_selector.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace plugins {

namespace {

using k8s::LabelSelector;
using k8s::SelectorOperator;
using k8s::StringMap;

std::string label_key(const std::string& namespace_, const StringMap::Entry& label) {
  std::string key;
  append_key(key, namespace_);
  append_key(key, label.first);
  append_key(key, label.second);
  return key;
}

bool selects(const StringMap& selector, const StringMap& labels) {
  return std::all_of(selector.begin(), selector.end(), [&](const StringMap::Entry& each) {
    const std::string* value = labels.find(each.first);
    return value != nullptr && *value == each.second;
  });
}

void merge(const StringMap& from, StringMap& into) {
  for (const auto& [key, value] : from) into.set(key, value);
}

// Both must hold, even if they ask for two values of one label. Upstream ignores an invalid one.
void add(const LabelSelector& also, LabelSelector& to) {
  if (!also.is_valid()) return;
  const auto& expressions = also.match_expressions;
  for (const auto& [key, value] : also.match_labels) {
    const std::string* known = to.match_labels.find(key);
    if (known == nullptr) {
      to.match_labels.set(key, value);
    } else if (*known != value) {
      to.match_expressions.push_back({.key = key, .op = SelectorOperator::kIn, .values = {value}});
    }
  }
  to.match_expressions.insert(to.match_expressions.end(), expressions.begin(), expressions.end());
}

template <typename Name, typename Selector>
bool replace(std::map<Name, Selector>& all, const k8s::ObjectMeta& of,
             const std::optional<Selector>& selector) {
  const Name name(of.namespace_, of.name);
  if (!selector) return all.erase(name) != 0;
  const auto [known, is_new] = all.try_emplace(name, *selector);
  if (is_new) return true;
  if (known->second == *selector) return false;
  known->second = *selector;
  return true;
}

}  // namespace

bool DefaultSelectors::set(const k8s::Service& service) {
  return replace_service({service.metadata.namespace_, service.metadata.name}, service.selector);
}
bool DefaultSelectors::set(const k8s::ReplicationController& controller) {
  return replace(replication_controllers_, controller.metadata,
                 std::optional<StringMap>(controller.selector));
}
bool DefaultSelectors::set(const k8s::ReplicaSet& set) {
  return replace(replica_sets_, set.metadata, set.selector);
}
bool DefaultSelectors::set(const k8s::StatefulSet& set) {
  return replace(stateful_sets_, set.metadata, set.selector);
}

bool DefaultSelectors::erase_service(const std::string& namespace_, const std::string& name) {
  return replace_service({namespace_, name}, {});
}
bool DefaultSelectors::erase_replication_controller(const std::string& namespace_,
                                                    const std::string& name) {
  return replication_controllers_.erase({namespace_, name}) != 0;
}
bool DefaultSelectors::erase_replica_set(const std::string& namespace_, const std::string& name) {
  return replica_sets_.erase({namespace_, name}) != 0;
}
bool DefaultSelectors::erase_stateful_set(const std::string& namespace_, const std::string& name) {
  return stateful_sets_.erase({namespace_, name}) != 0;
}

bool DefaultSelectors::replace_service(const Name& name, const StringMap& selector) {
  const auto known = services_.find(name);
  if (known == services_.end() ? selector.empty() : known->second.selector == selector) {
    return false;
  }
  if (known != services_.end()) {
    take_out(known->second);
    services_.erase(known);
  }
  if (selector.empty()) return true;
  Service& kept = services_[name];
  kept.selector = selector;
  file(kept, name.first);
  return true;
}

void DefaultSelectors::file(Service& service, const std::string& namespace_) {
  std::optional<std::size_t> fewest;
  for (const StringMap::Entry& label : service.selector) {
    std::string key = label_key(namespace_, label);
    const auto found = filed_.find(key);
    const std::size_t there = found == filed_.end() ? 0 : found->second.size();
    if (fewest && *fewest <= there) continue;
    fewest = there;
    service.filed_under = std::move(key);
  }
  std::vector<Filed>& all = filed_[service.filed_under];
  const auto same = std::find_if(
      all.begin(), all.end(), [&](const Filed& each) { return each.selector == service.selector; });
  if (same != all.end()) {
    ++same->services;
  } else {
    all.push_back({.selector = service.selector, .services = 1});
  }
}

void DefaultSelectors::take_out(const Service& service) {
  const auto under = filed_.find(service.filed_under);
  std::vector<Filed>& all = under->second;
  const auto same = std::find_if(
      all.begin(), all.end(), [&](const Filed& each) { return each.selector == service.selector; });
  if (--same->services > 0) return;
  all.erase(same);
  if (all.empty()) filed_.erase(under);
}

void DefaultSelectors::merge_services(const k8s::Pod& pod, StringMap& into) const {
  if (filed_.empty()) return;
  for (const StringMap::Entry& label : pod.metadata.labels) {
    const auto found = filed_.find(label_key(pod.metadata.namespace_, label));
    if (found == filed_.end()) continue;
    for (const Filed& each : found->second) {
      if (selects(each.selector, pod.metadata.labels)) merge(each.selector, into);
    }
  }
}

LabelSelector DefaultSelectors::of(const k8s::Pod& pod) const {
  LabelSelector all;
  merge_services(pod, all.match_labels);
  const k8s::OwnerReference* owner = k8s::controller_of(pod.metadata);
  if (owner == nullptr) return all;
  const Name name(pod.metadata.namespace_, owner->name);
  if (owner->api_version == "v1" && owner->kind == "ReplicationController") {
    const auto found = replication_controllers_.find(name);
    // Its labels replace those of Services.
    if (found != replication_controllers_.end()) merge(found->second, all.match_labels);
    return all;
  }
  if (owner->api_version != "apps/v1") return all;
  const bool is_replica_set = owner->kind == "ReplicaSet";
  if (!is_replica_set && owner->kind != "StatefulSet") return all;
  const auto& sets = is_replica_set ? replica_sets_ : stateful_sets_;
  const auto found = sets.find(name);
  if (found != sets.end()) add(found->second, all);
  return all;
}

bool DefaultSelectors::may_have(const k8s::Pod& pod) {
  return !pod.metadata.labels.empty() || k8s::controller_of(pod.metadata) != nullptr;
}

}  // namespace plugins
