#include "k8s-client/api/protobuf/objects.h"

namespace k8s::protobuf {
namespace {

bool read(Value value, PreferredNodeTerm& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 1) return protobuf::read(field, out.weight);
    if (number == 2) return protobuf::read(field, out.preference);
    return true;
  });
}

bool read(Value value, NodeAffinity& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 1) return read_optional(field, out.required);
    if (number != 2) return true;
    PreferredNodeTerm term;
    const bool ok = read(field, term);
    if (!term.preference.empty()) out.preferred.push_back(std::move(term));
    return ok;
  });
}

bool read(Value value, PodAffinityTerm& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    switch (number) {
      case 1:
        return read_optional(field, out.label_selector);
      case 2:
        return read_item(field, out.namespaces);
      case 3:
        return protobuf::read(field, out.topology_key);
      case 4:
        return read_optional(field, out.namespace_selector);
      case 5:
        return read_item(field, out.match_label_keys);
      case 6:
        return read_item(field, out.mismatch_label_keys);
      default:
        return true;
    }
  });
}

bool read(Value value, WeightedPodAffinityTerm& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 1) return protobuf::read(field, out.weight);
    if (number == 2) return read(field, out.term);
    return true;
  });
}

// corev1.PodAffinity and corev1.PodAntiAffinity have the same layout.
bool read(Value value, PodAffinity& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 1) return read(field, out.required.emplace_back());
    if (number == 2) return read(field, out.preferred.emplace_back());
    return true;
  });
}

// Sets `out` to whether the policy is `word`; unchanged if it is neither of the two words.
bool read_choice(Value value, std::string_view word, std::string_view other, bool& out) {
  if (value.bytes() == word) out = true;
  if (value.bytes() == other) out = false;
  return true;
}

}  // namespace

bool read_affinity(Value value, Pod::Spec& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 1) return read(field, out.node_affinity.emplace());
    if (number == 2) return read(field, out.pod_affinity.emplace());
    if (number == 3) return read(field, out.pod_anti_affinity.emplace());
    return true;
  });
}

bool read(Value value, TopologySpreadConstraint& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    switch (number) {
      case 1:
        return read(field, out.max_skew);
      case 2:
        return read(field, out.topology_key);
      case 3:
        return read_choice(field, "DoNotSchedule", "ScheduleAnyway", out.do_not_schedule);
      case 4:
        return read_optional(field, out.label_selector);
      case 5:
        return read_optional(field, out.min_domains);
      case 6:
        return read_choice(field, "Honor", "Ignore", out.node_affinity_honor);
      case 7:
        return read_choice(field, "Honor", "Ignore", out.node_taints_honor);
      case 8:
        return read_item(field, out.match_label_keys);
      default:
        return true;
    }
  });
}

}  // namespace k8s::protobuf
