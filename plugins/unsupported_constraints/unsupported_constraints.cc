#include "plugins/unsupported_constraints/unsupported_constraints.h"

#include <algorithm>

namespace plugins {

namespace {

using namespace sched;

class UnsupportedConstraints final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "UnsupportedConstraints"; }

  std::optional<std::string> refuses(const k8s::Pod& pod) const override {
    const auto& spread = pod.spec.topology_spread_constraints;
    if (std::any_of(spread.begin(), spread.end(),
                    [](const auto& constraint) { return constraint.do_not_schedule; })) {
      return "pod has a topology spread constraint (DoNotSchedule), which gpu-scheduler cannot "
             "honour yet";
    }
    if (pod.spec.pod_affinity && !pod.spec.pod_affinity->required.empty()) {
      return "pod has required inter-pod affinity, which gpu-scheduler cannot honour yet";
    }
    if (pod.spec.pod_anti_affinity && !pod.spec.pod_anti_affinity->required.empty()) {
      return "pod has required inter-pod anti-affinity, which gpu-scheduler cannot honour yet";
    }
    if (!pod.spec.resource_claims.empty()) {
      return "pod has resource claims (DRA), which gpu-scheduler cannot allocate yet";
    }
    return std::nullopt;
  }

  // Only a change of the pod itself can help.
  ChangeMask wakes_on() const override { return 0; }
  bool apply(const ClusterChange&) override { return false; }
};

}  // namespace

PluginInstance make_unsupported_constraints(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.constraint = std::make_unique<UnsupportedConstraints>();
  return instance;
}

}  // namespace plugins
