// Pods that need a feature of kubelet's, and nodes that declare it.
#include "tests/scheduler/engine/quota_cluster.h"

#include <chrono>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kRestart = "RestartAllContainersOnContainerExits";
constexpr const char* kUsers = "UserNamespacesHostNetworkSupport";

k8s::Node declaring(const char* name, std::vector<std::string> features) {
  k8s::Node made = node(name).labelled("zone", name);
  made.status.declared_features = std::move(features);
  return made;
}

struct FeaturesCluster : QuotaCluster {
  // In that order, which is not kube-scheduler's.
  FeaturesCluster() : QuotaCluster({"PodTopologySpread", "NodeDeclaredFeatures"}) {
    has(declaring("none", {}));
    has(declaring("restart", {"Another", kRestart}));
    has(declaring("users", {kUsers}));
    has(declaring("both", {kRestart, kUsers}));
  }
  std::string allowed(const k8s::Pod& pod) const {
    std::string all;
    for (const NodeExplanation& node : engine.explain(pod).nodes) {
      if (node.code == Code::kOk) all += (all.empty() ? "" : " ") + node.node;
    }
    return all;
  }
};

k8s::Pod restarts_all(const char* name = "p") {
  k8s::Pod pod = our_pod(name);
  pod.spec.containers.at(0).restarts_all_containers = true;
  return pod;
}
k8s::Pod with_users_of_its_own() {
  k8s::Pod pod = our_pod("p");
  pod.spec.user_namespace = true;
  return pod;
}

}  // namespace

TEST_CASE("which nodes declare what a pod needs") {
  k8s::Pod on_host = our_pod("p");
  on_host.spec.host_network = true;
  k8s::Pod users_on_host = with_users_of_its_own();
  users_on_host.spec.host_network = true;
  k8s::Pod both = restarts_all();
  both.spec.host_network = both.spec.user_namespace = true;
  k8s::Pod init = our_pod("p");
  init.spec.init_containers.emplace_back().restarts_all_containers = true;
  struct Case {
    const char* name;
    k8s::Pod pod;
    const char* want;
  };
  const char* const anywhere = "both none restart users";
  const std::vector<Case> cases = {
      {"nothing", our_pod("p"), anywhere},
      {"a container restarts all", restarts_all(), "both restart"},
      {"an init container does", init, "both restart"},
      {"the host's network", on_host, anywhere},
      {"users of its own", with_users_of_its_own(), anywhere},
      {"users of its own on the host's network", users_on_host, "both users"},
      {"all of it", both, "both"},
  };
  const FeaturesCluster s;
  for (const Case& each : cases) {
    CAPTURE(each.name);
    CHECK(s.allowed(each.pod) == each.want);
  }
}

TEST_CASE("what a node does not declare is told where nothing else keeps the pod off it") {
  FeaturesCluster s;
  k8s::Pod spread = our_pod("p").spread_over("rack");
  spread.spec.containers = restarts_all().spec.containers;
  const Explanation of_spread = s.engine.explain(spread);
  CHECK(of_spread.nodes.size() == 4);
  for (const NodeExplanation& node : of_spread.nodes) {
    CAPTURE(node.node);
    CHECK(node.plugin == "PodTopologySpread");
  }
  std::vector<std::string> refused;
  for (const NodeExplanation& node : s.engine.explain(restarts_all()).nodes) {
    if (node.code == Code::kOk) continue;
    CAPTURE(node.node);
    refused.push_back(node.node);
    CHECK(node.code == Code::kUnresolvable);
    CHECK(node.plugin == "NodeDeclaredFeatures");
    CHECK(node.reasons == std::vector<std::string>{"node(s) didn't match Pod's required features"});
  }
  CHECK(refused == std::vector<std::string>{"none", "users"});
}

TEST_CASE("a pod that waits for a feature is placed once a node declares it") {
  FeaturesCluster s;
  for (const char* name : {"restart", "both"}) s.node_gone(name);
  s.has(restarts_all());
  CHECK(s.decide() == std::vector<std::string>{
                          "p waits: 0/2 nodes are available: 2 node(s) didn't match Pod's required "
                          "features."});
  s.has(declaring("none", {kRestart}));
  s.now += 2s;
  CHECK(s.decide() == std::vector<std::string>{"p → none"});
}
