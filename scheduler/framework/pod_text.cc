#include "scheduler/framework/pod_text.h"

#include "scheduler/framework/read_annotations.h"

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace sched {
namespace {

// A structured binding must name all fields of a struct: code with a new field does not compile
// before it is named here.
class TextSum {
 public:
  template <typename... Values>
  void add(const Values&... values) {
    (write(values), ...);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  template <typename Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
  void write(Number /*value*/) {}
  void write(const std::string& text) { bytes_ += text.size(); }
  template <typename Value>
  void write(const std::optional<Value>& value) {
    if (value) write(*value);
  }
  template <typename Value>
  void write(const std::vector<Value>& values) {
    for (const Value& value : values) write(value);
  }
  void write(const k8s::StringMap& entries) {
    for (const auto& [key, value] : entries) add(key, value);
  }
  void write(const k8s::OwnerReference& owner) {
    const auto& [api_version, kind, name, uid, controller] = owner;
    add(api_version, kind, name, uid);
  }
  void write(const k8s::SelectorRequirement& requirement) {
    const auto& [key, op, values] = requirement;
    add(key, values);
  }
  void write(const k8s::LabelSelector& selector) {
    const auto& [labels, expressions] = selector;
    add(labels, expressions);
  }
  void write(const k8s::NodeSelectorTerm& term) {
    const auto& [expressions, fields] = term;
    add(expressions, fields);
  }
  void write(const k8s::NodeSelector& selector) {
    const auto& [terms] = selector;
    add(terms);
  }
  void write(const k8s::PreferredNodeTerm& preferred) {
    const auto& [weight, preference] = preferred;
    add(preference);
  }
  void write(const k8s::NodeAffinity& affinity) {
    const auto& [required, preferred] = affinity;
    add(required, preferred);
  }
  void write(const k8s::PodAffinityTerm& term) {
    const auto& [pods, namespaces, by_selector, key, match, mismatch] = term;
    add(pods, namespaces, by_selector, key, match, mismatch);
  }
  void write(const k8s::WeightedPodAffinityTerm& weighted) {
    const auto& [weight, term] = weighted;
    add(term);
  }
  void write(const k8s::PodAffinity& affinity) {
    const auto& [required, preferred] = affinity;
    add(required, preferred);
  }
  void write(const k8s::TopologySpreadConstraint& spread) {
    const auto& [skew, key, required, pods, domains, affinity, taints, match] = spread;
    add(key, pods, match);
  }
  void write(const k8s::Toleration& toleration) {
    const auto& [key, op, value, effect] = toleration;
    add(key, value);
  }
  void write(const k8s::Disk& disk) {
    const auto& [id, read_only, monitors, pool] = disk;
    add(id, monitors, pool);
  }
  void write(const k8s::Volume& volume) {
    const auto& [name, kind, claim_name, source, disk] = volume;
    add(name, claim_name, source, disk);
  }
  void write(const k8s::PodResourceClaim& claim) {
    const auto& [name] = claim;
    add(name);
  }
  void write(const k8s::Container& container) { add(container.name, container.image); }

  std::size_t bytes_ = 0;
};

// Frees its memory, too.
template <typename List>
void empty(List& list) {
  List().swap(list);
}

}  // namespace

std::size_t text_bytes(const k8s::Pod& pod) {
  const k8s::Pod::Spec& spec = pod.spec;
  TextSum sum;
  sum.add(pod.metadata.labels);
  for (const k8s::OwnerReference& owner : pod.metadata.owner_references) {
    if (owner.controller) sum.add(owner);
  }
  for (const auto& [key, value] : pod.metadata.annotations) {
    if (is_read_annotation(key)) sum.add(key, value);
  }
  sum.add(spec.init_containers, spec.containers, spec.node_selector, spec.node_affinity,
          spec.pod_affinity, spec.pod_anti_affinity, spec.tolerations,
          spec.topology_spread_constraints, spec.scheduling_gates, spec.volumes, spec.image_volumes,
          spec.resource_claims);
  return sum.bytes();
}

void drop_text(k8s::Pod& pod) {
  k8s::Pod::Spec& spec = pod.spec;
  pod.metadata.labels = {};
  pod.metadata.annotations = {};
  empty(pod.metadata.owner_references);
  for (std::vector<k8s::Container>* containers : {&spec.init_containers, &spec.containers}) {
    for (k8s::Container& container : *containers) {
      empty(container.name);
      empty(container.image);
    }
  }
  spec.node_selector = {};
  spec.node_affinity.reset();
  spec.pod_affinity.reset();
  spec.pod_anti_affinity.reset();
  empty(spec.tolerations);
  empty(spec.topology_spread_constraints);
  if (!spec.scheduling_gates.empty()) spec.scheduling_gates = {spec.scheduling_gates.front()};
  empty(spec.volumes);
  empty(spec.image_volumes);
  empty(spec.resource_claims);
}

}  // namespace sched
