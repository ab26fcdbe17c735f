#include "plugins/unsupported_constraints/unsupported_constraints.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>

namespace plugins {

namespace {

using namespace sched;

// Each is counted on every node.
constexpr std::size_t kMostTerms = 32;

std::size_t required_terms(const std::optional<k8s::PodAffinity>& affinity) {
  return affinity ? affinity->required.size() : 0;
}

class UnsupportedConstraints final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "UnsupportedConstraints"; }

  std::optional<std::string> refuses(const k8s::Pod& pod) const override {
    const std::size_t terms = required_terms(pod.spec.pod_affinity) +
                              required_terms(pod.spec.pod_anti_affinity) +
                              pod.spec.topology_spread_constraints.size();
    if (terms > kMostTerms) {
      return fmt::format(
          "pod has {} required pod affinity terms and topology spread constraints; "
          "gpu-scheduler counts for {} at most",
          terms, kMostTerms);
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
