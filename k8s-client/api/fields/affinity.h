// The fields of a pod's affinity and of its topology spread constraints.
#pragma once

#include "k8s-client/api/fields/description.h"
#include "k8s-client/api/fields/selector.h"
#include "k8s-client/api/pod.h"

#include <utility>

namespace k8s {

inline constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
inline constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

void fields(Of<PreferredNodeTerm> auto& term, auto&& field) {
  field({"weight", 1}, term.weight, Always{});
  field({"preference", 2}, term.preference);
}

void fields(Of<NodeAffinity> auto& affinity, auto&& field) {
  const auto add = [&](auto term, bool /*was_read*/) {
    if (!term.preference.empty()) affinity.preferred.push_back(std::move(term));
  };
  field({kRequired, 1}, affinity.required);
  field({kPreferred, 2}, affinity.preferred, Sifted{add});
}

void fields(Of<PodAffinityTerm> auto& term, auto&& field) {
  field({"topologyKey", 3}, term.topology_key, Always{});
  field({"labelSelector", 1}, term.label_selector);
  field({"namespaces", 2}, term.namespaces);
  field({"namespaceSelector", 4}, term.namespace_selector);
  field({"matchLabelKeys", 5}, term.match_label_keys);
  field({"mismatchLabelKeys", 6}, term.mismatch_label_keys);
}

void fields(Of<WeightedPodAffinityTerm> auto& term, auto&& field) {
  field({"weight", 1}, term.weight, Always{});
  field({"podAffinityTerm", 2}, term.term);
}

// corev1.PodAffinity and corev1.PodAntiAffinity have the same layout.
void fields(Of<PodAffinity> auto& affinity, auto&& field) {
  field({kRequired, 1}, affinity.required);
  field({kPreferred, 2}, affinity.preferred);
}

void fields(Of<TopologySpreadConstraint> auto& constraint, auto&& field) {
  field({"maxSkew", 1}, constraint.max_skew, Always{});
  field({"topologyKey", 2}, constraint.topology_key, Always{});
  field({"whenUnsatisfiable", 3}, constraint.do_not_schedule,
        Choice{"DoNotSchedule", "ScheduleAnyway"});
  field({"labelSelector", 4}, constraint.label_selector);
  field({"minDomains", 5}, constraint.min_domains);
  field({"nodeAffinityPolicy", 6}, constraint.node_affinity_honor, Choice{"Honor", "Ignore", true});
  field({"nodeTaintsPolicy", 7}, constraint.node_taints_honor, Choice{"Honor", "Ignore", false});
  field({"matchLabelKeys", 8}, constraint.match_label_keys);
}

}  // namespace k8s
