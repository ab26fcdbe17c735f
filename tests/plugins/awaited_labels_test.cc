// Nodes that offer GPUs before GPU feature discovery has labelled them: pods that need whole GPUs
// wait for the labels, for some time, and only where labels are to come.
#include "scheduler/engine/world/awaited_labels.h"

#include "tests/plugins/cluster.h"
#include "tests/plugins/labels.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <variant>

using namespace sched;
using tests::Cluster;
using tests::kMinMemory;
using tests::kProfile;
using tests::kSharing;
using tests::node;
using tests::NodeBuilder;
using tests::our_pod;
using tests::PodBuilder;

namespace {

constexpr std::chrono::seconds kOneSecond{1};
constexpr const char* kRunsDiscovery = "nvidia.com/gpu.deploy.gpu-feature-discovery";

// A node on which the GPU operator runs GPU feature discovery, which has not labelled it yet.
NodeBuilder joined_node(std::int64_t gpus) {
  return node("n").gpus(gpus).labelled(kRunsDiscovery, "true");
}

// As GPU feature discovery labels it.
NodeBuilder discovered(const NodeBuilder& unlabelled, const char* count, const char* replicas) {
  const bool shared = std::string(replicas) != "1";
  return NodeBuilder(unlabelled)
      .product(shared ? "NVIDIA-L4-SHARED" : "NVIDIA-L4")
      .labelled("nvidia.com/gpu.count", count)
      .labelled("nvidia.com/gpu.replicas", replicas)
      .labelled("nvidia.com/gpu.sharing-strategy", shared ? "time-slicing" : "none");
}

PodBuilder four_gpus() { return our_pod("several").gpus(4); }

std::set<std::string> bound_now(Cluster& cluster) {
  std::set<std::string> pods;
  for (const Decision& decision : cluster.decide()) {
    if (const auto* bind = std::get_if<decision::Bind>(&decision)) pods.insert(bind->pod.name);
  }
  return pods;
}

bool is_refused(const std::string& answer) { return answer.starts_with("0/1 nodes are available"); }

}  // namespace

TEST_CASE("A node that joins has its GPUs count as shared until they are labelled") {
  Cluster cluster;
  cluster.has(joined_node(0));
  cluster.has(joined_node(8));
  const std::string told = cluster.place(four_gpus());
  CHECK_THAT(told,
             Catch::Contains("1 node(s) had shared GPUs, of which a pod may ask for one piece "
                             "only"));
  CHECK(is_refused(cluster.place(our_pod("never").gpus(1).annotated(kSharing, "never"))));
  // A pod that takes a piece of a shared GPU, too, does not wait.
  CHECK(cluster.place(our_pod("one").gpus(1)) == "n");
  // The kubelet writes its status again.
  cluster.wait(10 * kOneSecond);
  cluster.has(joined_node(8).labelled("another", "label"));
  CHECK(is_refused(cluster.place(our_pod("pair").gpus(2))));
  const std::set<std::string> all = {"several", "never", "pair"};

  SECTION("they are whole") {
    cluster.has(discovered(joined_node(8), "8", "1"));
    CHECK(bound_now(cluster) == all);
  }
  SECTION("they are shared") {
    cluster.has(discovered(joined_node(8), "2", "4"));
    cluster.wait(2 * kLabelsAwaited);
    CHECK(bound_now(cluster).empty());
  }
  SECTION("no labels come") {
    cluster.wait(kLabelsAwaited - 11 * kOneSecond);
    cluster.has(joined_node(8));
    CHECK(bound_now(cluster).empty());
    cluster.wait(kOneSecond);
    CHECK(bound_now(cluster) == all);
    // And not once more.
    cluster.gone(our_pod("several").gpus(4));
    cluster.has(joined_node(8).labelled("another", "label"));
    CHECK(cluster.place(our_pod("later").gpus(4)) == "n");
  }
}

TEST_CASE("GPUs of other nodes are whole at once") {
  struct Case {
    const char* name;
    NodeBuilder before;
    NodeBuilder now;
  };
  const Case cases[] = {
      {"no labels at all", node("n"), node("n").gpus(8)},
      {"GPU feature discovery is paused", node("n"),
       node("n").gpus(8).labelled(kRunsDiscovery, "paused-for-driver-upgrade")},
      {"GPU feature discovery is switched off", node("n"),
       node("n").gpus(8).labelled(kRunsDiscovery, "false")},
      {"labelled before", discovered(joined_node(0), "8", "1"),
       discovered(joined_node(8), "8", "1")},
      {"as many as a cloud's label counts",
       joined_node(0).labelled("karpenter.k8s.aws/instance-gpu-count", "8"),
       joined_node(8).labelled("karpenter.k8s.aws/instance-gpu-count", "8")},
      {"offered before", joined_node(8), joined_node(8).labelled("another", "label")},
      {"offered when it is first seen, as another node of that name", joined_node(0),
       joined_node(8).uid("another")},
      {"a GPU is healthy again", discovered(joined_node(7), "8", "1"),
       discovered(joined_node(8), "8", "1")},
      {"of two models, after the device plugin has restarted", discovered(joined_node(8), "4", "1"),
       discovered(joined_node(8), "4", "1").labelled("another", "label")},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    Cluster cluster;
    cluster.has(each.before);
    cluster.has(each.now);
    CHECK(cluster.place(four_gpus()) == "n");
  }
}

TEST_CASE("GPUs that are shared from now on count so before the labels say it") {
  Cluster cluster;
  cluster.has(discovered(joined_node(2), "2", "1"));
  CHECK(cluster.place(our_pod("running").gpus(1)) == "n");
  cluster.has(discovered(joined_node(8), "2", "1"));
  // It is not said to have GPUs of several models.
  for (const Decision& decision : cluster.decide()) {
    CHECK_FALSE(std::holds_alternative<decision::NodeComplaint>(decision));
  }
  CHECK(is_refused(cluster.place(four_gpus())));
  cluster.has(discovered(joined_node(8), "2", "4"));
  cluster.wait(2 * kLabelsAwaited);
  CHECK(is_refused(cluster.place(our_pod("later").gpus(4))));
}

TEST_CASE("A piece may be a part of MPS until labels say how it is shared") {
  struct Case {
    const char* name;
    PodBuilder pod;
    const char* told;
  };
  const Case cases[] = {
      {"a part may be too small", our_pod("large").gpus(1).annotated(kMinMemory, "20Gi"),
       "no GPU with 20Gi of memory (first n: NVIDIA-L4: GPU feature discovery has not labelled"},
      {"and has memory of its own",
       our_pod("stated").gpus(1).annotated("gpu-scheduler.io/gpu-memory", "20Gi"),
       "no GPU with 20Gi of memory (first n: GPU feature discovery has not labelled"},
      {"a container gets one only", our_pod("pair").gpus(2).annotated(kSharing, "allowed"),
       "of which a pod may ask for one piece only (first n: GPU feature discovery has not "
       "labelled yet"},
  };
  struct Change {
    const char* name;
    const char* replicas;  // as labelled, of two GPUs
    std::int64_t pieces;   // from now on
    const char* shared_by;
  };
  const Change changes[] = {{"whole until now", "1", 8, "4"}, {"shared by two", "2", 8, "4"}};
  for (const Case& each : cases) {
    for (const Change& change : changes) {
      INFO(each.name << ", " << change.name);
      const auto labelled = [&](std::int64_t pieces, const char* replicas) {
        return discovered(joined_node(pieces), "2", replicas);
      };
      Cluster cluster;
      cluster.has(labelled(2 * std::stoi(change.replicas), change.replicas));
      cluster.has(labelled(change.pieces, change.replicas));
      CHECK_THAT(cluster.place(each.pod), Catch::Contains(each.told));
      CHECK(cluster.place(our_pod("one").gpus(1)) == "n");
      // Pods take turns on the GPUs.
      cluster.has(labelled(change.pieces, change.shared_by));
      CHECK(bound_now(cluster) == std::set<std::string>{each.pod.object().metadata.name});
    }
  }
}

TEST_CASE("A device plugin that restarts on a node of several models has nothing wait for labels") {
  Cluster cluster;
  cluster.has(discovered(joined_node(8), "4", "1"));
  cluster.has(discovered(joined_node(0), "4", "1"));
  cluster.has(discovered(joined_node(8), "4", "1"));
  CHECK(cluster.place(four_gpus()) == "n");
}

TEST_CASE("What mig-manager has partitioned counts as instances before labels say it") {
  const auto configured = [](const NodeBuilder& node, const char* state) {
    return NodeBuilder(node)
        .labelled("nvidia.com/mig.config", "all-1g.10gb")
        .labelled("nvidia.com/mig.config.state", state);
  };
  struct Case {
    const char* name;
    NodeBuilder before;
    NodeBuilder now;
  };
  const NodeBuilder whole = joined_node(0)
                                .product("NVIDIA-H100-80GB-HBM3")
                                .labelled("nvidia.com/gpu.count", "8")
                                .labelled("nvidia.com/gpu.sharing-strategy", "none")
                                .labelled("nvidia.com/mig.strategy", "single");
  const Case cases[] = {
      {"a node that joins", configured(joined_node(0), "success"),
       configured(joined_node(14), "success")},
      {"fewer than there should be: a GPU has failed", configured(whole, "pending"),
       configured(NodeBuilder(whole).gpus(49), "success")},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    Cluster cluster;
    cluster.has(each.before);
    cluster.has(each.now);
    CHECK_THAT(cluster.place(our_pod("whole").gpus(1)),
               Catch::Contains("1 node(s) had MIG instances as nvidia.com/gpu, and the pod names "
                               "no such profile"));
    CHECK(cluster.place(our_pod("one").gpus(1).annotated(kProfile, "1g.10gb")) == "n");
  }
  Cluster joins;
  joins.has(cases[0].before);
  joins.has(cases[0].now);
  CHECK_THAT(joins.place(our_pod("whole").gpus(1)),
             Catch::Contains("14 of profile 1g.10gb of GPUs that no label names"));
  // By a configuration of the site's own.
  const auto renamed = [](NodeBuilder node, const char* state) {
    return node.labelled("nvidia.com/mig.config", "for-inference")
        .labelled("nvidia.com/mig.config.state", state);
  };
  Cluster own;
  own.has(renamed(whole, "pending"));
  own.has(renamed(NodeBuilder(whole).gpus(56), "success"));
  for (const PodBuilder& pod :
       {our_pod("whole").gpus(1), our_pod("one").gpus(1).annotated(kProfile, "1g.10gb")}) {
    CHECK_THAT(own.place(pod),
               Catch::Contains("GPU feature discovery has not labelled yet what it offers"));
  }
  own.has(renamed(whole, "success")
              .gpus(56)
              .product("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb")
              .labelled("nvidia.com/gpu.count", "56"));
  CHECK(bound_now(own) == std::set<std::string>{"one"});
  // And by another one: smaller instances.
  const auto instances = [&](std::int64_t pieces, const char* count, const char* profile) {
    return renamed(whole, "success")
        .gpus(pieces)
        .product(std::string("NVIDIA-H100-80GB-HBM3-MIG-") + profile)
        .labelled("nvidia.com/gpu.count", count);
  };
  Cluster smaller;
  smaller.has(instances(16, "16", "3g.40gb"));
  smaller.has(instances(56, "16", "3g.40gb"));
  CHECK(is_refused(smaller.place(our_pod("large").gpus(1).annotated(kProfile, "3g.40gb"))));
  CHECK(is_refused(smaller.place(our_pod("whole").gpus(1))));
  smaller.has(instances(56, "56", "1g.10gb"));
  CHECK(smaller.place(our_pod("small").gpus(1).annotated(kProfile, "1g.10gb")) == "n");
  // Under mixed they have the names of their profiles.
  Cluster cluster;
  const NodeBuilder mixed = NodeBuilder(whole).labelled("nvidia.com/mig.strategy", "mixed");
  cluster.has(configured(mixed, "pending"));
  cluster.has(configured(NodeBuilder(mixed).gpus(9), "success"));
  CHECK(cluster.place(our_pod("one").gpus(1)) == "n");
}
