// NodeDeclaredFeatures: a pod with a spec that needs a feature of kubelet goes to nodes that
// declare it (status.declaredFeatures).
//
// Of the features of Kubernetes 1.36, two are needed by pods that are to be placed; the others are
// needed when a pod is changed:
//
//   RestartAllContainersOnContainerExits  a container's restartPolicyRules have an action
//                                         RestartAllContainers
//   UserNamespacesHostNetworkSupport      hostNetwork, and hostUsers: false
//
// It is a constraint, not a filter, because kube-scheduler asks it last, after its rules across
// nodes, and the first refusal of a node is reported. Source: kube-scheduler NodeDeclaredFeatures;
// k8s.io/component-helpers nodedeclaredfeatures. Without arguments.
#include "plugins/factories.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
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

  std::string excludes_by(const k8s::Pod& pod) const override {
    return fmt::format("{}", fmt::join(needed_by(pod), " "));
  }

  ChangeMask reads() const override { return 0; }
  bool apply(const ClusterChange&) override { return false; }
};

}  // namespace

PluginInstance make_node_declared_features(k8s::yaml::ObjectReader&) {
  return {.constraint = std::make_unique<NodeDeclaredFeatures>()};
}

}  // namespace plugins
