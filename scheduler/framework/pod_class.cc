#include "scheduler/framework/pod_class.h"

#include "scheduler/base/random.h"

#include <concepts>
#include <functional>
#include <string>

namespace sched {

namespace {

// Includes all that a class holds. A user's pods may differ in any one part alone; if the digest
// left that part out, each pod would be compared with all of them.
class ClassDigest {
 public:
  template <typename... Values>
  void add(const Values&... values) {
    (mix(values), ...);
  }
  [[nodiscard]] std::size_t value() const { return value_; }

 private:
  template <typename Number>
  requires std::integral<Number> || std::is_enum_v<Number>
  void mix(Number number) { value_ = mix64(value_ ^ static_cast<std::uint64_t>(number)); }
  void mix(const std::string& text) { mix(std::hash<std::string>{}(text)); }
  template <typename Value>
  void mix(const std::optional<Value>& value) {
    mix(value.has_value());
    if (value) mix(*value);
  }
  template <typename Value>
  void mix(const std::vector<Value>& values) {
    mix(values.size());
    for (const Value& value : values) mix(value);
  }
  void mix(const k8s::StringMap& entries) {
    mix(entries.size());
    for (const auto& [key, value] : entries) add(key, value);
  }
  void mix(const k8s::SelectorRequirement& requirement) {
    const auto& [key, op, values] = requirement;
    add(key, op, values);
  }
  void mix(const k8s::LabelSelector& selector) {
    const auto& [labels, expressions] = selector;
    add(labels, expressions);
  }
  void mix(const k8s::PodAffinityTerm& term) {
    const auto& [pods, namespaces, by_selector, key, match, mismatch] = term;
    add(pods, namespaces, by_selector, key, match, mismatch);
  }
  void mix(const k8s::WeightedPodAffinityTerm& weighted) {
    const auto& [weight, term] = weighted;
    add(weight, term);
  }
  void mix(const k8s::PodAffinity& affinity) {
    const auto& [required, preferred] = affinity;
    add(required, preferred);
  }
  void mix(const k8s::TopologySpreadConstraint& spread) {
    const auto& [skew, key, required, pods, domains, affinity, taints, match] = spread;
    add(skew, key, required, pods, domains, affinity, taints, match);
  }

  std::uint64_t value_ = 0;
};

// Calls visit() with each part of a class and its source in the pod, until it returns false. The
// structured binding must name all parts: code with a new part does not compile before it is named
// here.
template <typename Class, typename Visit>
bool visit_parts(const k8s::Pod& pod, Class& of, Visit visit) {
  auto& [namespace_, labels, affinity, anti_affinity, spread] = of;
  return visit(pod.metadata.namespace_, namespace_) && visit(pod.metadata.labels, labels) &&
         visit(pod.spec.pod_affinity, affinity) &&
         visit(pod.spec.pod_anti_affinity, anti_affinity) &&
         visit(pod.spec.topology_spread_constraints, spread);
}

}  // namespace

PodClass class_of(const k8s::Pod& pod) {
  PodClass made;
  visit_parts(pod, made, [](const auto& from, auto& to) {
    to = from;
    return true;
  });
  return made;
}

bool is_of_class(const k8s::Pod& pod, const PodClass& known) {
  return visit_parts(pod, known, std::equal_to<>());
}

std::size_t class_digest(const k8s::Pod& pod) {
  static const PodClass kNone;
  ClassDigest digest;
  visit_parts(pod, kNone, [&digest](const auto& part, const auto& /*none*/) {
    digest.add(part);
    return true;
  });
  return digest.value();
}

}  // namespace sched
