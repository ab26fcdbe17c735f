#include "plugins/unsupported_constraints/unsupported_constraints.h"

namespace plugins {

namespace {

using namespace sched;

class UnsupportedConstraints final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "UnsupportedConstraints"; }

  std::optional<std::string> refuses(const k8s::Pod& pod) const override {
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
