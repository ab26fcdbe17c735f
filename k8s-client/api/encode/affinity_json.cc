#include "k8s-client/api/encode/json.h"

namespace k8s::json {
namespace {

constexpr const char* kRequiredField = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferredField = "preferredDuringSchedulingIgnoredDuringExecution";

Json to_json(const PodAffinityTerm& term) {
  Json object;
  object["topologyKey"] = term.topology_key;
  if (term.label_selector) object["labelSelector"] = json::to_json(*term.label_selector);
  set(object, "namespaces", term.namespaces);
  if (term.namespace_selector) {
    object["namespaceSelector"] = json::to_json(*term.namespace_selector);
  }
  set(object, "matchLabelKeys", term.match_label_keys);
  set(object, "mismatchLabelKeys", term.mismatch_label_keys);
  return object;
}

}  // namespace

Json to_json(const NodeAffinity& affinity) {
  Json object = Json::object();
  if (affinity.required) object[kRequiredField] = to_json(*affinity.required);
  for (const auto& term : affinity.preferred) {
    Json weighted;
    weighted["weight"] = term.weight;
    weighted["preference"] = to_json(term.preference);
    object[kPreferredField].push_back(std::move(weighted));
  }
  return object;
}

Json to_json(const PodAffinity& affinity) {
  Json object = Json::object();
  for (const auto& term : affinity.required) object[kRequiredField].push_back(to_json(term));
  for (const auto& term : affinity.preferred) {
    Json weighted;
    weighted["weight"] = term.weight;
    weighted["podAffinityTerm"] = to_json(term.term);
    object[kPreferredField].push_back(std::move(weighted));
  }
  return object;
}

Json to_json(const TopologySpreadConstraint& constraint) {
  Json object;
  object["maxSkew"] = constraint.max_skew;
  object["topologyKey"] = constraint.topology_key;
  object["whenUnsatisfiable"] = constraint.do_not_schedule ? "DoNotSchedule" : "ScheduleAnyway";
  if (constraint.label_selector) object["labelSelector"] = to_json(*constraint.label_selector);
  if (constraint.min_domains) object["minDomains"] = *constraint.min_domains;
  if (!constraint.node_affinity_honor) object["nodeAffinityPolicy"] = "Ignore";
  if (constraint.node_taints_honor) object["nodeTaintsPolicy"] = "Honor";
  set(object, "matchLabelKeys", constraint.match_label_keys);
  return object;
}

}  // namespace k8s::json
