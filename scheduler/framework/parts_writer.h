// Passes the parts of values to a sink: to make keys of them, or to count their bytes.
//
// A struct is taken apart by a structured binding, which must name all fields: code with a new
// field does not compile before it is named here. A sink has number(value), text(value) and
// list(size, bytes that it holds itself). Included only by .cc files.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/framework/pod_shape.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sched {

template <typename Sink>
class PartsWriter {
 public:
  template <typename... Values>
  void add(const Values&... values) {
    (write(values), ...);
  }
  [[nodiscard]] Sink take() { return std::move(sink_); }

 private:
  template <typename Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
  void write(Number value) { sink_.number(static_cast<std::int64_t>(value)); }
  void write(const std::string& text) { sink_.text(text); }
  void write(const k8s::StringMap& entries) {
    sink_.list(entries.size(), entries.size() * sizeof(k8s::StringMap::Entry));
    for (const auto& [key, value] : entries) add(key, value);
  }
  template <typename Value>
  void write(const std::vector<Value>& values) {
    sink_.list(values.size(), values.capacity() * sizeof(Value));
    for (const Value& value : values) write(value);
  }
  template <typename Value>
  void write(const std::optional<Value>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  void write(const k8s::SelectorRequirement& requirement) {
    const auto& [key, op, values] = requirement;
    add(key, op, values);
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
    add(weight, preference);
  }
  void write(const k8s::NodeAffinity& affinity) {
    const auto& [required, preferred] = affinity;
    add(required, preferred);
  }
  void write(const k8s::Toleration& toleration) {
    const auto& [key, op, value, effect] = toleration;
    add(key, op, value, effect);
  }
  void write(const k8s::LabelSelector& selector) {
    const auto& [labels, expressions] = selector;
    add(labels, expressions);
  }
  void write(const k8s::PodAffinityTerm& term) {
    const auto& [pods, namespaces, by_selector, key, match, mismatch] = term;
    add(pods, namespaces, by_selector, key, match, mismatch);
  }
  void write(const k8s::WeightedPodAffinityTerm& weighted) {
    const auto& [weight, term] = weighted;
    add(weight, term);
  }
  void write(const k8s::PodAffinity& affinity) {
    const auto& [required, preferred] = affinity;
    add(required, preferred);
  }
  void write(const k8s::TopologySpreadConstraint& spread) {
    const auto& [skew, key, required, pods, domains, affinity, taints, match] = spread;
    add(skew, key, required, pods, domains, affinity, taints, match);
  }
  void write(const k8s::OwnerReference& owner) {
    const auto& [api_version, kind, name, uid, controller] = owner;
    add(api_version, kind, name, uid, controller);
  }
  void write(const k8s::Disk& disk) {
    const auto& [id, read_only, monitors, pool] = disk;
    add(id, read_only, monitors, pool);
  }
  void write(const k8s::Volume& volume) {
    const auto& [name, kind, claim_name, source, disk] = volume;
    add(name, kind, claim_name, source, disk);
  }
  void write(const k8s::PodResourceClaim& claim) {
    const auto& [name] = claim;
    add(name);
  }
  void write(const k8s::ContainerPort& port) {
    const auto& [host_port, host_ip, protocol] = port;
    add(host_port, host_ip, protocol);
  }
  // A quantity holds nothing besides itself; it is in no key.
  void write(const std::pair<std::string, k8s::Quantity>& amount) { write(amount.first); }
  void write(const HostPort& used) {
    const auto& [ip, protocol, port] = used;
    add(ip, protocol, port);
  }
  void write(const ResourceAmount& request) {
    const auto& [resource, amount] = request;
    add(resource, amount);
  }
  void write(const NonZeroRequests& requests) {
    const auto& [cpu, memory] = requests;
    add(cpu, memory);
  }
  void write(const gpu::Capability& capability) {
    const auto& [major, minor] = capability;
    add(major, minor);
  }
  void write(const gpu::Version& version) {
    for (const std::int32_t part : version.parts) write(part);
  }
  // A name is determined by its text.
  void write(const gpu::TypeName& type) { write(type.text); }
  // A problem's text begins with its key.
  void write(const gpu::WishProblem& problem) { write(problem.text); }
  void write(const gpu::Wishes& wishes) {
    // The known profiles follow from these and from the node selection.
    const auto& [types, min_memory, compute, driver, cuda, sharing, gpu_memory, profile,
                 known_profiles, problems] = wishes;
    add(types, min_memory, compute, driver, cuda, sharing, gpu_memory, profile, problems);
  }

  Sink sink_;
};

}  // namespace sched
