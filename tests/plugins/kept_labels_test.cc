// GPU feature discovery takes its labels back when it restarts: what a node offers stays what the
// labels said until they are there again.
#include "scheduler/engine/world/kept_labels.h"

#include "scheduler/engine/world/awaited_devices.h"
#include "scheduler/engine/world/awaited_labels.h"
#include "tests/plugins/cluster.h"
#include "tests/plugins/labels.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <string>
#include <variant>

using namespace sched;
using tests::Cluster;
using tests::kProfile;
using tests::kSharing;
using tests::kType;
using tests::node;
using tests::NodeBuilder;
using tests::our_pod;

namespace {

constexpr const char* kDeploysDiscovery = "nvidia.com/gpu.deploy.gpu-feature-discovery";
constexpr const char* kWholeH100 = "NVIDIA-H100-80GB-HBM3";

// What is left when GPU feature discovery has taken its labels back: the GPU operator's.
NodeBuilder labels_gone(std::int64_t gpus) {
  return node("n")
      .gpus(gpus)
      .labelled("nvidia.com/gpu.present", "true")
      .labelled(kDeploysDiscovery, "true");
}

// As GPU feature discovery labels it.
NodeBuilder labels_there(const NodeBuilder& gone, const std::string& product, const char* count,
                         const char* replicas = "1") {
  const bool shared = std::string(replicas) != "1";
  return NodeBuilder(gone)
      .product(product + (shared ? "-SHARED" : ""))
      .labelled("nvidia.com/gpu.count", count)
      .labelled("nvidia.com/gpu.replicas", replicas)
      .labelled("nvidia.com/gpu.sharing-strategy", shared ? "time-slicing" : "none")
      .labelled("nvidia.com/mig.strategy", "single");
}

NodeBuilder managed(const NodeBuilder& node, const char* config, const char* state = "success") {
  return NodeBuilder(node)
      .labelled("nvidia.com/mig.config", config)
      .labelled("nvidia.com/mig.config.state", state);
}

bool fits_nowhere(const std::string& answer) {
  return answer.starts_with("0/1 nodes are available");
}

}  // namespace

TEST_CASE("Pieces of shared GPUs are none of whole ones while their labels are gone") {
  Cluster cluster;
  cluster.has(labels_there(labels_gone(8), "NVIDIA-L4", "2", "4"));
  CHECK(fits_nowhere(cluster.place(our_pod("several").gpus(2))));
  cluster.has(labels_gone(8));
  CHECK(cluster.decide().empty());
  CHECK(fits_nowhere(cluster.place(our_pod("never").gpus(1).annotated(kSharing, "never"))));
  CHECK(cluster.place(our_pod("one").gpus(1).annotated(kType, "L4")) == "n");
  // It takes long, and the kubelet writes its status again.
  cluster.wait(2 * kLabelsAwaited);
  cluster.has(labels_gone(8).labelled("another", "label"));
  CHECK(cluster.decide().empty());
  cluster.has(labels_there(labels_gone(8), "NVIDIA-L4", "8"));
  CHECK(cluster.decide().size() == 2);  // they are whole now
}

TEST_CASE("The device plugin may restart while the labels are gone") {
  Cluster cluster;
  cluster.has(labels_there(labels_gone(8), "NVIDIA-L4", "2", "4"));
  cluster.has(labels_gone(0));
  cluster.wait(2 * kDevicesAwaited);
  cluster.has(labels_gone(8));
  CHECK(fits_nowhere(cluster.place(our_pod("several").gpus(2))));
}

TEST_CASE("GPUs that become shared while their labels are gone count as shared") {
  Cluster cluster;
  cluster.has(labels_there(labels_gone(2), "NVIDIA-L4", "2"));
  cluster.has(labels_gone(2));
  CHECK(cluster.place(our_pod("whole").gpus(1).annotated(kSharing, "never")) == "n");
  cluster.has(labels_gone(0));
  cluster.has(labels_gone(8));
  CHECK(fits_nowhere(cluster.place(our_pod("several").gpus(2))));
  cluster.has(labels_there(labels_gone(8), "NVIDIA-L4", "2", "4"));
  CHECK(fits_nowhere(cluster.place(our_pod("never").gpus(1).annotated(kSharing, "never"))));
}

TEST_CASE("Instances are none of whole GPUs while their labels are gone") {
  Cluster cluster;
  const std::string instances = std::string(kWholeH100) + "-MIG-1g.10gb";
  cluster.has(managed(labels_there(labels_gone(14), instances, "14"), "all-1g.10gb"));
  cluster.has(managed(labels_gone(14), "all-1g.10gb"));
  CHECK(fits_nowhere(cluster.place(our_pod("whole").gpus(1))));
  CHECK(cluster.place(our_pod("instance").gpus(1).annotated(kProfile, "1g.10gb")) == "n");
}

TEST_CASE("GPUs that are partitioned while their labels are gone count as instances") {
  Cluster cluster;
  cluster.has(managed(labels_there(labels_gone(2), kWholeH100, "2"), "all-disabled"));
  cluster.has(
      managed(labels_gone(2), "all-1g.10gb", "pending").labelled(kDeploysDiscovery, "paused"));
  cluster.has(
      managed(labels_gone(0), "all-1g.10gb", "pending").labelled(kDeploysDiscovery, "paused"));
  cluster.has(managed(labels_gone(14), "all-1g.10gb"));
  CHECK(fits_nowhere(cluster.place(our_pod("whole").gpus(1))));
  CHECK(cluster.place(our_pod("instance").gpus(1).annotated(kProfile, "1g.10gb")) == "n");
}

TEST_CASE("Labels that will not come back are not kept") {
  struct Case {
    const char* name;
    NodeBuilder before;
    NodeBuilder now;
  };
  const NodeBuilder shared = labels_there(labels_gone(8), "NVIDIA-L4", "2", "4");
  const Case cases[] = {
      {"GPU feature discovery shall not run there", shared,
       labels_gone(8).labelled(kDeploysDiscovery, "false")},
      {"they were not its own", node("n").gpus(8).product("NVIDIA-L4-SHARED"), node("n").gpus(8)},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    Cluster cluster;
    cluster.has(each.before);
    cluster.has(each.now);
    CHECK(cluster.place(our_pod("several").gpus(2)) == "n");
  }
  // A node of the same name is another one, also if the first is not seen to go.
  for (const bool is_seen_to_go : {true, false}) {
    Cluster cluster;
    cluster.has(shared);
    if (is_seen_to_go) cluster.lacks("n");
    cluster.has(labels_gone(8).uid("another"));
    CHECK(cluster.place(our_pod("several").gpus(2)) == "n");
  }
}
