// UnsupportedConstraints: a pod with hard constraints that gpu-scheduler does not support yet is
// placed nowhere.
//
// These are: resource claims; in-line disks that one node at a time can mount; and more required
// pod affinity terms and topology spread constraints than are counted. To place such a pod by the
// rest of its spec would ignore what it asks for. It waits, and its message names the reason.
// Without arguments.
#include "plugins/factories.h"
#include "scheduler/framework/long_lists.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>

namespace plugins {

namespace {

using namespace sched;

// Each is counted on every node.
constexpr std::size_t kMostTerms = 32;

// The terms of a pod, required and preferred.
struct AllTerms {
  std::size_t strict = 0;
  std::size_t preferred = 0;
};

AllTerms terms_of(const k8s::Pod::Spec& pod) {
  AllTerms terms;
  for (const auto* affinity : {&pod.pod_affinity, &pod.pod_anti_affinity}) {
    if (!*affinity) continue;
    terms.strict += (*affinity)->required.size();
    terms.preferred += (*affinity)->preferred.size();
  }
  for (const k8s::TopologySpreadConstraint& each : pod.topology_spread_constraints) {
    ++(each.do_not_schedule ? terms.strict : terms.preferred);
  }
  return terms;
}

class UnsupportedConstraints final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "UnsupportedConstraints"; }
  bool concerns(const k8s::Pod& pod) const override { return refuses(pod).has_value(); }

  // Only a change of the pod itself helps.
  std::optional<Refusal> refuses(const k8s::Pod& pod) const override {
    if (auto reason = reason_against(pod)) return Refusal{*std::move(reason)};
    return std::nullopt;
  }

  ChangeMask reads() const override { return 0; }
  bool apply(const ClusterChange&) override { return false; }

 private:
  static std::optional<std::string> reason_against(const k8s::Pod& pod) {
    if (const auto list = long_list_of(pod)) {
      return fmt::format("pod has {}, which gpu-scheduler does not read", *list);
    }
    const AllTerms terms = terms_of(pod.spec);
    if (terms.strict > kMostTerms) {
      return fmt::format(
          "pod has more than {} required pod affinity terms and DoNotSchedule constraints, which "
          "gpu-scheduler does not count",
          kMostTerms);
    }
    if (terms.preferred > kMostTerms) {
      return fmt::format(
          "pod has more than {} preferred pod affinity terms and ScheduleAnyway constraints, which "
          "gpu-scheduler does not count",
          kMostTerms);
    }
    for (const k8s::Volume& volume : pod.spec.volumes) {
      if (volume.kind != k8s::Volume::Kind::kUnknown) continue;
      return fmt::format(
          "pod has the volume \"{}\" of a kind that gpu-scheduler does not know ({})", volume.name,
          volume.source);
    }
    if (!pod.spec.resource_claims.empty()) {
      return "pod has resource claims (DRA), which gpu-scheduler cannot allocate yet";
    }
    return std::nullopt;
  }
};

}  // namespace

PluginInstance make_unsupported_constraints(k8s::yaml::ObjectReader&) {
  return {.constraint = std::make_unique<UnsupportedConstraints>()};
}

}  // namespace plugins
