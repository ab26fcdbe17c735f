#include "scheduler/framework/long_lists.h"

#include "scheduler/framework/pod_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace sched {
namespace {

// The key of what is left in place of dropped lists.
constexpr std::string_view kDropped = "gpu-scheduler.io/list-too-long";
// Annotations of claims. Of the second it is read only whether it is there.
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
// How many Kubernetes has.
constexpr std::size_t kAccessModes = 4;

// Matches no label, for the value has blanks.
k8s::SelectorRequirement never_of(std::string words) {
  return {
      .key = std::string(kDropped), .op = k8s::SelectorOperator::kIn, .values = {std::move(words)}};
}

std::size_t size_of(const std::vector<k8s::SelectorRequirement>& requirements) {
  std::size_t size = requirements.size();
  for (const k8s::SelectorRequirement& each : requirements) size += each.values.size();
  return size;
}

std::size_t size_of(const k8s::NodeSelectorTerm& term) {
  return 1 + size_of(term.match_expressions) + size_of(term.match_fields);
}

std::size_t size_of(const std::optional<k8s::LabelSelector>& selector) {
  return selector ? parts_of(*selector) : 0;
}

std::size_t size_of(const k8s::NodeAffinity& affinity) {
  std::size_t size = 0;
  if (affinity.required) {
    for (const k8s::NodeSelectorTerm& term : affinity.required->terms) size += size_of(term);
  }
  for (const k8s::PreferredNodeTerm& term : affinity.preferred) size += size_of(term.preference);
  return size;
}

std::size_t size_of(const k8s::PodAffinityTerm& term) {
  return 1 + size_of(term.label_selector) + size_of(term.namespace_selector) +
         term.namespaces.size() + term.match_label_keys.size() + term.mismatch_label_keys.size();
}

std::size_t size_of(const std::optional<k8s::PodAffinity>& affinity) {
  std::size_t size = 0;
  if (!affinity) return size;
  for (const k8s::PodAffinityTerm& term : affinity->required) size += size_of(term);
  for (const k8s::WeightedPodAffinityTerm& each : affinity->preferred) size += size_of(each.term);
  return size;
}

std::size_t size_of(const std::vector<k8s::TopologySpreadConstraint>& constraints) {
  std::size_t size = constraints.size();
  for (const k8s::TopologySpreadConstraint& each : constraints) {
    size += size_of(each.label_selector) + each.match_label_keys.size();
  }
  return size;
}

bool has_long_node_affinity(const k8s::Pod::Spec& spec) {
  const std::size_t affinity = spec.node_affinity ? size_of(*spec.node_affinity) : 0;
  return spec.node_selector.size() + affinity > kMostOfNodeAffinity;
}

bool has_long_terms_across_nodes(const k8s::Pod::Spec& spec) {
  return size_of(spec.pod_affinity) + size_of(spec.pod_anti_affinity) +
             size_of(spec.topology_spread_constraints) >
         kMostOfTermsAcrossNodes;
}

// Of a bound pod no more is kept than its labels, its terms across nodes, and what it takes.
bool has_much_text(const k8s::Pod& pod) {
  return pod.spec.node_name.empty() && text_bytes(pod) > kMostTextOfPod;
}

// With the monitors of their disks.
std::size_t volumes_of(const k8s::Pod::Spec& spec) {
  std::size_t number = spec.volumes.size() + spec.image_volumes.size();
  for (const k8s::Volume& volume : spec.volumes) number += volume.disk.monitors.size();
  return number;
}

std::size_t claims_of(const k8s::Pod::Spec& spec) {
  return static_cast<std::size_t>(
      std::count_if(spec.volumes.begin(), spec.volumes.end(), [](const k8s::Volume& volume) {
        return volume.kind == k8s::Volume::Kind::kPersistentVolumeClaim ||
               volume.kind == k8s::Volume::Kind::kEphemeral;
      }));
}

// What the lists that drop_long_lists() has dropped were; null: none was.
const std::string* dropped_from(const std::optional<k8s::NodeAffinity>& affinity) {
  if (!affinity || !affinity->required || affinity->required->terms.size() != 1) return nullptr;
  const auto& requirements = affinity->required->terms.front().match_expressions;
  if (requirements.size() != 1 || requirements.front().key != kDropped) return nullptr;
  const std::vector<std::string>& values = requirements.front().values;
  return values.size() == 1 ? &values.front() : nullptr;
}

// Frees its memory, too.
template <typename Entry>
void drop(std::vector<Entry>& list) {
  std::vector<Entry>().swap(list);
}

template <typename Term>
void cut(std::vector<Term>& terms) {
  if (terms.size() <= kMostTermsAcrossNodes) return;
  terms.resize(kMostTermsAcrossNodes);
  terms.shrink_to_fit();
}

// What is too long for a name stays so, and names nothing.
void cut_name(std::string& text) {
  if (text.size() <= kMostOfName) return;
  text.resize(kMostOfName + 1);
  text.shrink_to_fit();
}

// The API server takes a list that repeats them without end.
void drop_repeated_modes(std::vector<std::string>& modes) {
  if (modes.size() <= kAccessModes) return;
  std::sort(modes.begin(), modes.end());
  modes.erase(std::unique(modes.begin(), modes.end()), modes.end());
  modes.shrink_to_fit();
}

void cut(std::optional<k8s::PodAffinity>& affinity) {
  if (!affinity) return;
  cut(affinity->required);
  cut(affinity->preferred);
}

}  // namespace

std::size_t parts_of(const k8s::LabelSelector& selector) {
  return selector.match_labels.size() + size_of(selector.match_expressions);
}

std::optional<std::string> long_list_of(const k8s::Pod& pod) {
  const k8s::Pod::Spec& spec = pod.spec;
  if (const std::string* dropped = dropped_from(spec.node_affinity)) return *dropped;
  if (spec.tolerations.size() > kMostTolerations) {
    return fmt::format("more than {} tolerations", kMostTolerations);
  }
  if (volumes_of(spec) > kMostVolumes) return fmt::format("more than {} volumes", kMostVolumes);
  if (claims_of(spec) > kMostClaims) {
    return fmt::format("more than {} persistent volume claims", kMostClaims);
  }
  if (pod.metadata.labels.size() > kMostLabels) {
    return fmt::format("more than {} labels", kMostLabels);
  }
  if (has_long_node_affinity(spec)) {
    return fmt::format("a node affinity of more than {} terms, expressions and values",
                       kMostOfNodeAffinity);
  }
  if (has_long_terms_across_nodes(spec)) {
    return fmt::format(
        "pod affinity and topology spread of more than {} terms, expressions and values",
        kMostOfTermsAcrossNodes);
  }
  if (has_much_text(pod)) {
    return fmt::format("more than {} KiB of labels, annotations, rules and images",
                       kMostTextOfPod / 1024);
  }
  return std::nullopt;
}

void drop_long_lists(k8s::Pod& pod) {
  k8s::Pod::Spec& spec = pod.spec;
  cut(spec.pod_affinity);
  cut(spec.pod_anti_affinity);
  cut(spec.topology_spread_constraints);
  auto too_long = long_list_of(pod);
  if (!too_long) return;
  if (spec.tolerations.size() > kMostTolerations) drop(spec.tolerations);
  const bool has_many_claims = spec.node_name.empty() && claims_of(spec) > kMostClaims;
  if (volumes_of(spec) > kMostVolumes || has_many_claims) {
    drop(spec.volumes);
    drop(spec.image_volumes);
  }
  if (pod.metadata.labels.size() > kMostLabels) pod.metadata.labels = {};
  if (has_long_node_affinity(spec)) spec.node_selector = {};
  if (has_long_terms_across_nodes(spec)) {
    spec.pod_affinity.reset();
    spec.pod_anti_affinity.reset();
    drop(spec.topology_spread_constraints);
  }
  if (has_much_text(pod)) drop_text(pod);
  k8s::NodeSelectorTerm never;
  never.match_expressions.push_back(never_of(*std::move(too_long)));
  spec.node_affinity.emplace().required.emplace().terms.push_back(std::move(never));
}

void drop_long_lists(k8s::PersistentVolumeClaim& claim) {
  if (size_of(claim.selector) > kMostOfComparedSelector) {
    claim.selector.emplace().match_expressions.push_back(never_of("too long"));
  }
  for (std::string* text : {&claim.volume_name, &claim.storage_class, &claim.volume_mode,
                            &claim.volume_attributes_class}) {
    cut_name(*text);
  }
  for (k8s::OwnerReference& owner : claim.metadata.owner_references) {
    for (std::string* text : {&owner.api_version, &owner.kind, &owner.name, &owner.uid}) {
      cut_name(*text);
    }
  }
  drop_repeated_modes(claim.access_modes);
  k8s::StringMap& annotations = claim.metadata.annotations;
  const auto is_long = [&](std::string_view key) {
    const std::string* value = annotations.find(key);
    return value != nullptr && value->size() > kMostOfName;
  };
  if (is_long(kSelectedNode)) annotations.erase(kSelectedNode);
  if (is_long(kBindCompleted)) annotations.set(kBindCompleted, "");
}

void drop_long_lists(k8s::PodDisruptionBudget& budget) {
  if (size_of(budget.selector) > kMostOfComparedSelector) budget.selector.emplace();
}

void drop_long_lists(k8s::Service& service) {
  if (service.selector.size() > kMostOfSelector) service.selector = {};
}

void drop_long_lists(k8s::ReplicationController& controller) {
  if (controller.selector.size() > kMostOfSelector) controller.selector = {};
}

void drop_long_lists(k8s::ReplicaSet& set) {
  if (size_of(set.selector) > kMostOfSelector) set.selector.reset();
}

void drop_long_lists(k8s::StatefulSet& set) {
  if (size_of(set.selector) > kMostOfSelector) set.selector.reset();
}

}  // namespace sched
