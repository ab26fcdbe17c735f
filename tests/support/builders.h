// Kubernetes objects for tests, written as sentences:
//
//   pod("train-0").gpus(2).tolerates("nvidia.com/gpu")
//   node("a100-1").gpus(8).product("NVIDIA-A100-SXM4-80GB").tainted("nvidia.com/gpu")
//
// What a sentence does not say is what the API server would have filled in for a plain object: a
// namespace, a uid, room for pods. A builder converts to the object it describes, as often as
// wanted. Quantities are Kubernetes' text ("500m", "1Gi"); one that does not parse fails the test.
#pragma once

#include "k8s-client/api/namespace.h"
#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/storage.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tests {

[[nodiscard]] k8s::Quantity quantity(std::string_view text);

// {{"cpu", "500m"}, {"nvidia.com/gpu", "1"}}
using Amounts = std::initializer_list<std::pair<std::string_view, std::string_view>>;
[[nodiscard]] k8s::ResourceList resources(Amounts amounts);

[[nodiscard]] k8s::Container container(std::string_view name, Amounts requests);
[[nodiscard]] k8s::Container sidecar(std::string_view name, Amounts requests);

// One requirement of a selector: label("zone").in({"a", "b"}), label("rack").exists().
class RequirementBuilder {
 public:
  explicit RequirementBuilder(std::string_view key) : key_(key) {}
  [[nodiscard]] k8s::SelectorRequirement in(std::vector<std::string> values) const;
  [[nodiscard]] k8s::SelectorRequirement not_in(std::vector<std::string> values) const;
  [[nodiscard]] k8s::SelectorRequirement exists() const;
  [[nodiscard]] k8s::SelectorRequirement does_not_exist() const;
  [[nodiscard]] k8s::SelectorRequirement greater_than(std::string value) const;
  [[nodiscard]] k8s::SelectorRequirement less_than(std::string value) const;

 private:
  std::string key_;
};
[[nodiscard]] inline RequirementBuilder label(std::string_view key) {
  return RequirementBuilder(key);
}

// All of these labels, or fields of the node (only metadata.name), as one term of a node affinity.
using Requirements = std::vector<k8s::SelectorRequirement>;
[[nodiscard]] k8s::NodeSelectorTerm term(Requirements labels, Requirements fields = {});
// A term that only the nodes of these names match (one name, by the API's rules).
[[nodiscard]] k8s::NodeSelectorTerm named(std::vector<std::string> names);

// matchLabels alone.
[[nodiscard]] k8s::LabelSelector selector(std::initializer_list<k8s::StringMap::Entry> labels);
// A required (anti-)affinity term over the pod's own namespace.
[[nodiscard]] k8s::PodAffinityTerm pods_like(std::initializer_list<k8s::StringMap::Entry> labels,
                                             std::string_view topology_key);

class PodBuilder {
 public:
  explicit PodBuilder(std::string_view name);

  PodBuilder& in_namespace(std::string_view name);
  PodBuilder& uid(std::string_view uid);
  PodBuilder& labelled(std::string_view key, std::string_view value);
  PodBuilder& annotated(std::string_view key, std::string_view value);
  PodBuilder& served_by(std::string_view scheduler_name);
  PodBuilder& priority(std::int32_t priority);
  PodBuilder& gated(std::string_view gate);
  PodBuilder& created_at(k8s::Timestamp time);
  PodBuilder& generation(std::int64_t generation);

  // Of the container "main", which every built pod has; limits as well for extended resources.
  PodBuilder& requests(std::string_view resource, std::string_view amount);
  PodBuilder& cpu(std::string_view amount) { return requests("cpu", amount); }
  PodBuilder& memory(std::string_view amount) { return requests("memory", amount); }
  PodBuilder& gpus(std::int64_t count);
  PodBuilder& host_port(std::int32_t port, std::string_view ip = "",
                        std::string_view protocol = "TCP");

  // Further containers, init containers and sidecars (which are init containers), in order.
  PodBuilder& with(k8s::Container container);
  PodBuilder& first_runs(k8s::Container init_container);
  PodBuilder& overhead(Amounts amounts);
  PodBuilder& pod_level(Amounts requests);

  PodBuilder& selects(std::string_view label, std::string_view value);  // spec.nodeSelector
  PodBuilder& requires_nodes(std::vector<k8s::NodeSelectorTerm> any_of);
  PodBuilder& prefers_nodes(std::int32_t weight, k8s::NodeSelectorTerm term);
  PodBuilder& tolerates(std::string_view key);  // every value and effect
  PodBuilder& tolerates(std::string_view key, std::string_view value,
                        std::optional<k8s::TaintEffect> effect = std::nullopt);
  PodBuilder& tolerates_everything();

  PodBuilder& near(k8s::PodAffinityTerm term);       // required affinity
  PodBuilder& away_from(k8s::PodAffinityTerm term);  // required anti-affinity
  PodBuilder& rather_near(std::int32_t weight, k8s::PodAffinityTerm term);  // preferred
  PodBuilder& rather_away_from(std::int32_t weight, k8s::PodAffinityTerm term);
  PodBuilder& spread_over(std::string_view topology_key, bool do_not_schedule = true);
  PodBuilder& spread_over(k8s::TopologySpreadConstraint constraint);
  PodBuilder& mounts_claim(std::string_view claim);
  PodBuilder& mounts(k8s::Volume volume);
  PodBuilder& uses_resource_claim(std::string_view name);

  PodBuilder& on(std::string_view node);  // bound, and running
  PodBuilder& phase(k8s::PodPhase phase);
  PodBuilder& started_at(k8s::Timestamp time);  // status.startTime
  // Failed for that reason, by the word of its node's kubelet.
  PodBuilder& failed(std::string_view reason);
  PodBuilder& finished() { return phase(k8s::PodPhase::kSucceeded); }
  PodBuilder& terminating();
  PodBuilder& condition(std::string_view type, std::string_view status, std::string_view reason);
  PodBuilder& status_of(k8s::ContainerStatus container);

  // NOLINTNEXTLINE(google-explicit-constructor): a sentence is the object it describes.
  operator k8s::Pod() const { return pod_; }
  [[nodiscard]] const k8s::Pod& object() const { return pod_; }

 private:
  k8s::NodeAffinity& node_affinity();

  k8s::Pod pod_;
};
[[nodiscard]] inline PodBuilder pod(std::string_view name) { return PodBuilder(name); }

// 8 CPUs, 32Gi of memory, room for 110 pods, ready, with the label kubernetes.io/hostname.
class NodeBuilder {
 public:
  explicit NodeBuilder(std::string_view name);

  NodeBuilder& uid(std::string_view uid);
  NodeBuilder& labelled(std::string_view key, std::string_view value);
  NodeBuilder& product(std::string_view product) {
    return labelled("nvidia.com/gpu.product", product);
  }
  NodeBuilder& offers(std::string_view resource, std::string_view amount);  // allocatable
  NodeBuilder& capacity(std::string_view resource, std::string_view amount);
  NodeBuilder& lacks(std::string_view resource);  // no such name at all
  NodeBuilder& cpu(std::string_view amount) { return offers("cpu", amount); }
  NodeBuilder& memory(std::string_view amount) { return offers("memory", amount); }
  NodeBuilder& gpus(std::int64_t count);
  NodeBuilder& pods(std::int64_t count);
  NodeBuilder& tainted(std::string_view key, std::string_view value = "",
                       k8s::TaintEffect effect = k8s::TaintEffect::kNoSchedule);
  NodeBuilder& cordoned();
  NodeBuilder& condition(std::string_view type, std::string_view status,
                         std::string_view reason = "");

  // NOLINTNEXTLINE(google-explicit-constructor): a sentence is the object it describes.
  operator k8s::Node() const { return node_; }
  [[nodiscard]] const k8s::Node& object() const { return node_; }

 private:
  k8s::Node node_;
};
[[nodiscard]] inline NodeBuilder node(std::string_view name) { return NodeBuilder(name); }

[[nodiscard]] k8s::Namespace name_space(std::string_view name,
                                        std::initializer_list<k8s::StringMap::Entry> labels = {});
// A claim of "default", bound to `volume`; unbound when that is empty.
[[nodiscard]] k8s::PersistentVolumeClaim claim(std::string_view name, std::string_view volume);
[[nodiscard]] k8s::PersistentVolume volume(std::string_view name);

}  // namespace tests
