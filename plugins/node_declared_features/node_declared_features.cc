#include "plugins/node_declared_features/node_declared_features.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

constexpr std::string_view kNodeDeclaredFeatures = "NodeDeclaredFeatures";
constexpr std::string_view kReason = "node(s) didn't match Pod's required features";

bool restarts_all(const std::vector<k8s::Container>& containers) {
  return std::any_of(containers.begin(), containers.end(),
                     [](const k8s::Container& each) { return each.restarts_all_containers; });
}

std::vector<std::string_view> needed_by(const k8s::Pod& pod) {
  const k8s::Pod::Spec& spec = pod.spec;
  std::vector<std::string_view> needed;
  if (restarts_all(spec.containers) || restarts_all(spec.init_containers)) {
    needed.emplace_back("RestartAllContainersOnContainerExits");
  }
  if (spec.host_network && spec.user_namespace) {
    needed.emplace_back("UserNamespacesHostNetworkSupport");
  }
  return needed;
}

class NodeDeclaredFeatures final : public ClusterConstraint {
 public:
  std::string_view name() const override { return kNodeDeclaredFeatures; }
  bool concerns(const k8s::Pod& pod) const override { return !needed_by(pod).empty(); }

  std::vector<Exclusion> excludes(const k8s::Pod& pod,
                                  const PodDifference& /*trial*/) const override {
    Exclusion exclusion{.plugin = kNodeDeclaredFeatures,
                        .reason = kReason,
                        .code = Code::kUnresolvable,
                        .allowed = {}};
    exclusion.allowed = [needed = needed_by(pod)](const NodeFacts& node) {
      const auto& declared = node.declared_features;
      return std::all_of(needed.begin(), needed.end(), [&](std::string_view feature) {
        return std::find(declared.begin(), declared.end(), feature) != declared.end();
      });
    };
    return {std::move(exclusion)};
  }

  ChangeMask reads() const override { return 0; }
  bool apply(const ClusterChange&) override { return false; }
};

}  // namespace

PluginInstance make_node_declared_features(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.constraint = std::make_unique<NodeDeclaredFeatures>();
  return instance;
}

}  // namespace plugins
