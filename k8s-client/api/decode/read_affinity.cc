#include "k8s-client/api/decode/objects.h"

namespace k8s::json {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

bool read_node_terms(JsonValue value, std::vector<PreferredNodeTerm>& out) {
  out.clear();
  return value.items([&](JsonValue item) {
    PreferredNodeTerm term;
    const bool ok = item.fields([&](std::string_view key, JsonValue field) {
      if (key == "weight") return read(field, term.weight);
      if (key == "preference") return read(field, term.preference);
      return true;
    });
    if (!term.preference.empty()) out.push_back(std::move(term));
    return ok;
  });
}

bool read_node_affinity(JsonValue value, NodeAffinity& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == kRequired) return read_optional(field, out.required);
    if (key == kPreferred) return read_node_terms(field, out.preferred);
    return true;
  });
}

bool read_pod_term(JsonValue value, PodAffinityTerm& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "labelSelector") return read_optional(field, out.label_selector);
    if (key == "namespaces") return read_list(field, out.namespaces);
    if (key == "namespaceSelector") return read_optional(field, out.namespace_selector);
    if (key == "topologyKey") return read(field, out.topology_key);
    if (key == "matchLabelKeys") return read_list(field, out.match_label_keys);
    if (key == "mismatchLabelKeys") return read_list(field, out.mismatch_label_keys);
    return true;
  });
}

bool read_weighted_term(JsonValue value, WeightedPodAffinityTerm& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "weight") return read(field, out.weight);
    if (key == "podAffinityTerm") return read_pod_term(field, out.term);
    return true;
  });
}

bool read_pod_affinity(JsonValue value, PodAffinity& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == kRequired) {
      out.required.clear();
      return field.items(
          [&](JsonValue item) { return read_pod_term(item, out.required.emplace_back()); });
    }
    if (key == kPreferred) {
      out.preferred.clear();
      return field.items(
          [&](JsonValue item) { return read_weighted_term(item, out.preferred.emplace_back()); });
    }
    return true;
  });
}

// Sets `out` to whether the policy is `word`; unchanged if it is neither of the two words.
bool read_choice(JsonValue value, std::string_view word, std::string_view other, bool& out) {
  std::string text;
  if (!read(value, text)) return false;
  if (text == word) out = true;
  if (text == other) out = false;
  return true;
}

}  // namespace

bool read_affinity(JsonValue value, Pod::Spec& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "nodeAffinity") return read_node_affinity(field, out.node_affinity.emplace());
    if (key == "podAffinity") return read_pod_affinity(field, out.pod_affinity.emplace());
    if (key == "podAntiAffinity") return read_pod_affinity(field, out.pod_anti_affinity.emplace());
    return true;
  });
}

bool read(JsonValue value, TopologySpreadConstraint& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "maxSkew") return read(field, out.max_skew);
    if (key == "topologyKey") return read(field, out.topology_key);
    if (key == "whenUnsatisfiable") {
      return read_choice(field, "DoNotSchedule", "ScheduleAnyway", out.do_not_schedule);
    }
    if (key == "labelSelector") return read_optional(field, out.label_selector);
    if (key == "minDomains") return read_optional(field, out.min_domains);
    if (key == "nodeAffinityPolicy") {
      return read_choice(field, "Honor", "Ignore", out.node_affinity_honor);
    }
    if (key == "nodeTaintsPolicy") {
      return read_choice(field, "Honor", "Ignore", out.node_taints_honor);
    }
    if (key == "matchLabelKeys") return read_list(field, out.match_label_keys);
    return true;
  });
}

}  // namespace k8s::json
