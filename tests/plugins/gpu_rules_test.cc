// The GPU rules of a whole profile: which node a pod gets when several rules have a say, what a pod
// is told that none takes, and that nothing is given that a rule forbids, whatever happens.
#include "tests/plugins/cluster.h"
#include "tests/plugins/labels.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstddef>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace sched;
using tests::Cluster;
using tests::kMig;
using tests::kMinMemory;
using tests::kProfile;
using tests::kSharing;
using tests::kType;
using tests::node;
using tests::NodeBuilder;
using tests::our_pod;
using tests::pod;
using tests::PodBuilder;

namespace {

constexpr const char* kGpuMemory = "gpu-scheduler.io/gpu-memory";
constexpr const char* kSmallMig = "nvidia.com/mig-1g.10gb";

// Upstream's plugins and nothing else.
constexpr const char* kParity =
    "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: "
    "[{schedulerName: gpu-scheduler, plugins: {multiPoint: {disabled: [{name: '*'}], enabled: "
    "[{name: NodeUnschedulable}, {name: NodeName}, {name: TaintToleration}, {name: NodeAffinity}, "
    "{name: NodePorts}, {name: NodeResourcesFit}]}}}]}";

NodeBuilder whole(std::string_view name, std::string_view product, std::int64_t gpus = 8) {
  return node(name).gpus(gpus).product(product);
}
NodeBuilder sliced(std::string_view name) {
  return whole(name, "NVIDIA-L4-SHARED")
      .labelled("nvidia.com/gpu.replicas", "4")
      .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing");
}

}  // namespace

TEST_CASE("The first listed type with a feasible node wins, whatever other scores say") {
  Cluster cluster;
  // Preferred affinity and packing speak for the other nodes.
  cluster.has(whole("h100", "NVIDIA-H100-80GB-HBM3", 1)
                  .tainted("busy", "", k8s::TaintEffect::kPreferNoSchedule));
  cluster.has(whole("a100-1", "NVIDIA-A100-SXM4-80GB"));
  cluster.has(whole("a100-2", "NVIDIA-A100-SXM4-80GB").labelled("fast", "yes"));
  cluster.has(whole("l4", "NVIDIA-L4", 1).labelled("fast", "yes"));
  const auto wants = [](std::string_view name) {
    return our_pod(name)
        .gpus(1)
        .annotated(kType, "H100,A100-80GB,L4")
        .prefers_nodes(100, tests::term({tests::label("fast").exists()}));
  };
  CHECK(cluster.place(wants("a")) == "h100");
  CHECK(cluster.place(wants("b")) == "a100-2");  // scores compare within the type
  cluster.lacks("a100-1");
  cluster.lacks("a100-2");
  CHECK(cluster.place(wants("c")) == "l4");
}

TEST_CASE("A type that the cluster does not have is said so, with the nearest that there are") {
  Cluster cluster;
  cluster.has(whole("h1", "NVIDIA-H100-80GB-HBM3"));
  cluster.has(whole("h2", "NVIDIA-H100-80GB-HBM3"));
  cluster.has(whole("l1", "NVIDIA-L4")
                  .labelled("nvidia.com/gpu.memory", "23034")
                  .labelled("nvidia.com/cuda.driver-version.full", "550.90"));
  CHECK_THAT(cluster.place(our_pod("a").gpus(1).annotated(kType, "H10O")),
             Catch::StartsWith("0/3 nodes are available: 3 node(s) had no GPU of type H10O.") &&
                 Catch::Contains("No node has a GPU of type H10O; the nearest are H100: "
                                 "NVIDIA-H100-80GB-HBM3 (2 nodes), L4: NVIDIA-L4 (1 node)."));
  CHECK_THAT(
      cluster.place(our_pod("b").gpus(1).annotated("gpu-scheduler.io/min-gpu-memory", "100Gi")),
      Catch::Contains("No node has GPUs with 100Gi of memory; the most is 80Gi "
                      "(NVIDIA-H100-80GB-HBM3)."));
  CHECK_THAT(
      cluster.place(
          our_pod("c").gpus(1).annotated("gpu-scheduler.io/min-compute-capability", "10.0")),
      Catch::Contains("No node is known to have GPUs of compute capability 10.0; the highest "
                      "is 9.0."));
  CHECK_THAT(
      cluster.place(our_pod("e").gpus(1).annotated("gpu-scheduler.io/min-driver-version", "600")),
      Catch::Contains("No node is known to have a GPU driver of version 600.0 or later; the newest "
                      "is 550.90."));
  CHECK_THAT(
      cluster.place(our_pod("f").gpus(1).annotated("gpu-scheduler.io/min-cuda-version", "13")),
      Catch::Contains("No node is known to have a GPU driver for CUDA 13.0 or later; the "
                      "newest is not known."));
  CHECK_THAT(cluster.place(our_pod("d").gpus(1).annotated(kSharing, "mabye")),
             Catch::StartsWith("0/3 nodes are available: gpu-scheduler.io/sharing: \"mabye\" is "
                               "none of allowed, required, never."));
}

TEST_CASE("A corrected annotation is another try") {
  Cluster cluster;
  cluster.has(whole("l1", "NVIDIA-L4"));
  CHECK_THAT(cluster.place(our_pod("a").gpus(1).annotated(kType, "L5")), Catch::StartsWith("0/1"));
  CHECK(cluster.place(our_pod("a").gpus(1).annotated(kType, "L4")) == "l1");
}

TEST_CASE("Who waits for a MIG instance is told which nodes could hold it, and which never") {
  Cluster cluster;
  const auto mixed = [](std::string_view name, std::string_view product) {
    return whole(name, product).labelled("nvidia.com/mig.strategy", "mixed");
  };
  cluster.has(mixed("full", "NVIDIA-A100-SXM4-80GB").gpus(0).offers(kMig, "1"));
  cluster.has(mixed("idle-1", "NVIDIA-A100-SXM4-80GB"));
  cluster.has(
      mixed("idle-2", "NVIDIA-H100-80GB-HBM3").gpus(0).offers("nvidia.com/mig-1g.10gb", "7"));
  cluster.has(
      mixed("no-gpu-now", "NVIDIA-H100-80GB-HBM3").gpus(0));  // partitioned into nothing, or so
  cluster.has(
      whole("single", "NVIDIA-H100-80GB-HBM3").labelled("nvidia.com/mig.strategy", "single"));
  cluster.has(mixed("small", "NVIDIA-A100-SXM4-40GB"));  // its 3g has 20 GB
  cluster.has(whole("l4", "NVIDIA-L4"));
  cluster.has(node("cpu"));
  cluster.has(mixed("tainted", "NVIDIA-A100-SXM4-80GB").tainted("keep-off"));
  CHECK(cluster.place(our_pod("a").requests(kMig, "1")) == "full");
  CHECK_THAT(
      cluster.place(our_pod("b").requests(kMig, "1")),
      Catch::StartsWith("0/9 nodes are available: 1 node(s) had untolerated taint(s), 8 "
                        "Insufficient nvidia.com/mig-3g.40gb.") &&
          Catch::Contains(
              "nvidia.com/mig-3g.40gb: 1 node has it, but not enough free (full); 3 could hold it "
              "after a repartition (idle-1, idle-2, no-gpu-now); 1 could after a repartition, and "
              "with "
              "mig.strategy mixed (single); 3 never can (1 NVIDIA-A100-SXM4-40GB, 1 NVIDIA-L4, 1 "
              "without GPU)."));
}

TEST_CASE("Who waits for instances of several profiles is told of each") {
  Cluster cluster;
  const auto mixed = [](std::string_view name) {
    return whole(name, "NVIDIA-A100-SXM4-80GB", 1)
        .labelled("nvidia.com/mig.strategy", "mixed")
        .labelled("nvidia.com/gpu.count", "1");
  };
  cluster.has(mixed("balanced").gpus(0).offers(kMig, "1").offers(kSmallMig, "2"));
  cluster.has(mixed("small").gpus(0).offers(kSmallMig, "7"));
  cluster.has(mixed("whole"));
  CHECK(cluster.place(our_pod("a").requests(kMig, "1").requests(kSmallMig, "2")) == "balanced");
  CHECK_THAT(cluster.place(our_pod("b").requests(kMig, "1").requests(kSmallMig, "2")),
             Catch::Contains("nvidia.com/mig-3g.40gb: 1 node has it, but not enough free "
                             "(balanced); 2 could hold it after a repartition (small, whole). "
                             "nvidia.com/mig-1g.10gb: 1 node has it, but not enough free "
                             "(balanced); 1 could hold it after a repartition (whole)."));
  CHECK_THAT(cluster.place(our_pod("c").requests(kMig, "3")),
             Catch::Contains("nvidia.com/mig-3g.40gb: 1 node has it, but not enough free "
                             "(balanced); 2 never can (2 NVIDIA-A100-SXM4-80GB with too few "
                             "GPUs)."));
}

TEST_CASE("A GPU of one's own comes before a replica, unless a replica will do") {
  Cluster cluster;
  cluster.has(sliced("shared"));
  cluster.has(whole("whole", "NVIDIA-L4", 1));
  CHECK(cluster.place(our_pod("a").gpus(1).annotated(kSharing, "allowed")) == "shared");
  CHECK(cluster.place(our_pod("b").gpus(1)) == "whole");
  CHECK(cluster.place(our_pod("c").gpus(1)) == "shared");
  CHECK_THAT(cluster.place(our_pod("d").gpus(1).annotated(kSharing, "never")),
             Catch::StartsWith("0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) "
                               "had shared GPUs, which the pod does not accept."));
}

TEST_CASE("An instance of one's own comes before a replica of one, whatever they are called") {
  Cluster cluster;
  const auto mixed = [](std::string_view name) {
    return whole(name, "NVIDIA-A100-SXM4-80GB", 0)
        .labelled("nvidia.com/mig.strategy", "mixed")
        .offers(kSmallMig, "2");
  };
  cluster.has(mixed("a-replicas").labelled("nvidia.com/mig-1g.10gb.replicas", "2"));
  cluster.has(mixed("own"));
  CHECK(cluster.place(our_pod("a").requests(kSmallMig, "1").annotated(kSharing, "allowed")) ==
        "a-replicas");
  CHECK(cluster.place(our_pod("b").requests(kSmallMig, "1")) == "own");
  CHECK(cluster.place(our_pod("c").requests(kSmallMig, "1").annotated(kSharing, "never")) == "own");
  CHECK_THAT(cluster.place(our_pod("d").requests(kSmallMig, "1").annotated(kSharing, "never")),
             Catch::StartsWith("0/2 nodes are available: 1 Insufficient nvidia.com/mig-1g.10gb, 1 "
                               "node(s) had shared GPUs, which the pod does not accept."));
  CHECK(cluster.place(our_pod("e").requests(kSmallMig, "1")) == "a-replicas");
}

TEST_CASE("With upstream's plugins alone no annotation and no label of a GPU changes a verdict") {
  const std::vector<k8s::Node> nodes = {
      sliced("n"), whole("n", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", 7),
      whole("n", "NVIDIA-L4").labelled("nvidia.com/gpu.count", "2"),
      whole("n", "NVIDIA-L4").labelled("nvidia.com/gpu.count", "many"),
      whole("n", "NVIDIA-A100-SXM4-80GB").labelled("nvidia.com/mig.config.state", "failed")};
  const std::vector<k8s::Pod> pods = {
      our_pod("p").gpus(1),
      our_pod("p").gpus(1).annotated(kType, "H10O"),
      our_pod("p").gpus(1).annotated(kType, ""),
      our_pod("p").gpus(1).annotated(kSharing, "never"),
      our_pod("p").gpus(2).annotated(kSharing, "required"),
      our_pod("p").gpus(1).annotated(kSharing, "what"),
      our_pod("p").gpus(1).annotated(kProfile, "2g.20gb"),
      our_pod("p").gpus(1).annotated("gpu-scheduler.io/min-gpu-memory", "1Ti"),
      our_pod("p").gpus(1).annotated("gpu-scheduler.io/min-compute-capability", "99.0")};
  for (const k8s::Node& there : nodes) {
    for (const k8s::Pod& object : pods) {
      Cluster cluster(kParity);
      cluster.has(there);
      CHECK(cluster.place(object) == "n");
    }
    Cluster cluster(kParity);
    cluster.has(there);
    const std::string said = cluster.place(our_pod("p").gpus(9).annotated(kType, "H10O"));
    CHECK(said.starts_with("0/1 nodes are available: 1 Insufficient nvidia.com/gpu. "));
    CHECK(said.ends_with("needs 9 on one node; no node left to the pod has more than " +
                         there.status.allocatable.back().second.to_string() + "."));
  }
}

TEST_CASE("The memory of shared GPUs is given back, and given anew") {
  const auto takes = [](PodBuilder made, const char* memory) {
    return made.gpus(1).annotated(kGpuMemory, memory);
  };
  const auto theirs = [&](const char* memory) { return takes(pod("theirs"), memory).on("n"); };
  struct Case {
    const char* name;
    std::function<void(Cluster&)> change;
    std::size_t placed;
  };
  const Case cases[] = {
      {"a pod that takes some goes", [&](Cluster& c) { c.gone(theirs("10Gi")); }, 1},
      {"it takes less than it did", [&](Cluster& c) { c.has(theirs("4Gi")); }, 1},
      {"it takes hardly less", [&](Cluster& c) { c.has(theirs("9Gi")); }, 0},
      {"one that takes nothing goes", [](Cluster& c) { c.gone(pod("quiet").gpus(1).on("n")); }, 0},
      {"a GPU more",
       [](Cluster& c) { c.has(sliced("n").gpus(8).labelled("nvidia.com/gpu.memory", "23034")); },
       1},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    Cluster cluster;
    cluster.has(sliced("n").gpus(4).labelled("nvidia.com/gpu.memory", "23034"));
    cluster.has(theirs("10Gi"));
    cluster.has(pod("quiet").gpus(1).on("n"));
    REQUIRE(cluster.place(takes(our_pod("a"), "8Gi")) == "n");
    REQUIRE(cluster.place(takes(our_pod("b"), "8Gi")) ==
            "0/1 nodes are available: 1 node(s) had shared GPUs with less than 8Gi of memory left. "
            "1 node would take the pod but for GpuSharing. GpuSharing: node(s) had shared GPUs "
            "with less than "
            "8Gi of memory left (first n: 4.5Gi of 22.5Gi left).");
    each.change(cluster);
    CHECK(cluster.decide().size() == each.placed);
  }
}

TEST_CASE("A site's own labels say what GPUs a node has, where the configuration names them") {
  constexpr const char* kOwnLabels =
      "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, gpuLabels: "
      "{product: [gpu-type], memory: [gpu-memory]}}";
  const k8s::Node own =
      node("own").gpus(8).labelled("gpu-type", "a100").labelled("gpu-memory", "80Gi");
  const auto wants = [](std::string_view name, const char* memory) {
    return our_pod(name).gpus(1).annotated(kType, "A100").annotated(kMinMemory, memory);
  };
  Cluster knows(kOwnLabels);
  knows.has(own);
  CHECK(knows.place(wants("a", "80G")) == "own");
  CHECK_THAT(knows.place(wants("b", "100G")),
             Catch::StartsWith("0/1 nodes are available: 1 node(s) had no GPU with 93.1Gi"));
  Cluster does_not;
  does_not.has(own);
  CHECK_THAT(does_not.place(wants("a", "80G")),
             Catch::StartsWith("0/1 nodes are available: 1 node(s) had no GPU of type A100."));
}

TEST_CASE("A node whose GPU labels are wrong is complained of once, and again when it is over") {
  Cluster cluster;
  const k8s::Node wrong = whole("n", "NVIDIA-L4").labelled("nvidia.com/gpu.count", "many");
  const std::vector<std::string> complaint = {
      "label nvidia.com/gpu.count: \"many\" is not a whole number of 0 and more"};
  cluster.has(wrong);
  CHECK(cluster.decide() ==
        std::vector<Decision>{decision::NodeComplaint{.node = "n", .complaints = complaint}});
  cluster.has(wrong);
  CHECK(cluster.decide().empty());
  cluster.has(whole("n", "NVIDIA-L4"));
  CHECK(cluster.decide() ==
        std::vector<Decision>{decision::NodeComplaint{.node = "n", .complaints = {}}});

  // A product that is not known, once however many nodes have it.
  cluster.has(whole("x1", "Frobnicator-9"));
  cluster.has(whole("x2", "Frobnicator-9"));
  const auto told = cluster.decide();
  REQUIRE(told.size() == 1);
  const auto& unknown = std::get<decision::NodeComplaint>(told.front());
  CHECK(unknown.node == "x1");
  CHECK_FALSE(unknown.lasts);
  CHECK_THAT(unknown.complaints.at(0), Catch::StartsWith("GPUs of product Frobnicator-9 are not"));
}

namespace {

// One of the kinds of node that the rules tell apart, with room for few pods.
k8s::Node random_node(std::mt19937& random, const std::string& name) {
  switch (random() % 5) {
    case 0:
      return whole(name, "NVIDIA-H100-80GB-HBM3", 2);
    case 1:
      return sliced(name)
          .gpus(4)
          .labelled("nvidia.com/gpu.count", "1")
          .labelled("nvidia.com/gpu.memory", "23034");
    case 2:
      return whole(name, "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", 7);
    case 3:
      return whole(name, "NVIDIA-A100-SXM4-80GB", 1)
          .labelled("nvidia.com/mig.strategy", "mixed")
          .offers(kMig, "2")
          .offers(kSmallMig, "3");
    default:
      return node(name).offers("nvidia.com/gpu.shared", "4").product("NVIDIA-L4");
  }
}

k8s::Pod random_pod(std::mt19937& random, const std::string& name) {
  PodBuilder made = our_pod(name);
  switch (random() % 5) {
    case 0:
      return made.requests(kMig, "1");
    case 1:
      return made.requests(kMig, "1").requests(kSmallMig, "2");
    case 2:
      return made.requests("nvidia.com/gpu.shared", "1");
    default:
      made.gpus(1 + static_cast<std::int64_t>(random() % 2));
  }
  if (random() % 3 == 0) made.annotated(kSharing, random() % 2 == 0 ? "never" : "required");
  if (random() % 2 == 0) made.annotated(kGpuMemory, random() % 2 == 0 ? "7Gi" : "12Gi");
  if (random() % 4 == 0) made.annotated(kProfile, "1g.10gb");
  if (random() % 4 == 0) made.annotated(kType, random() % 2 == 0 ? "H100,L4" : "A100-80GB");
  return made;
}

// What is wrong with this pod on this node; empty: nothing. Reads the objects by itself.
std::string wrong(const k8s::Pod& object, const k8s::Node& there) {
  const auto annotation = [&](const char* key) {
    const std::string* value = object.metadata.annotations.find(key);
    return value == nullptr ? std::string() : *value;
  };
  const std::string* label = there.metadata.labels.find("nvidia.com/gpu.product");
  const std::string product = label == nullptr ? "" : *label;
  const bool shared = product.ends_with("-SHARED");
  const bool partitioned = product.find("-MIG-") != std::string::npos;
  const bool asks_gpu = object.spec.containers[0].requests.front().first == "nvidia.com/gpu";
  if (asks_gpu && annotation(kSharing) == "never" && shared) return "shared, though never";
  if (asks_gpu && annotation(kSharing) == "required" && !shared) return "not shared";
  const std::int64_t gpus = object.spec.containers[0].requests.front().second.value();
  if (asks_gpu && annotation(kSharing).empty() && shared && gpus > 1) return "several pieces";
  if (asks_gpu && partitioned != (annotation(kProfile) == "1g.10gb")) return "instance or not";
  const std::string types = annotation(kType);
  if (types == "A100-80GB" && product.find("A100") == std::string::npos) return "not an A100";
  if (types == "H100,L4" && product.find("H100") == std::string::npos &&
      product.find("L4") == std::string::npos) {
    return "neither H100 nor L4";
  }
  return {};
}

// By node and resource, what its pods take; and no more than the node has.
std::string overcommitted(const std::map<std::string, std::pair<k8s::Pod, std::string>>& bound,
                          const std::map<std::string, k8s::Node>& nodes) {
  std::map<std::pair<std::string, std::string>, std::int64_t> taken;
  std::map<std::string, std::int64_t> memory_taken;
  for (const auto& [name, placed] : bound) {
    const std::string* memory = placed.first.metadata.annotations.find(kGpuMemory);
    if (memory != nullptr) {
      const std::int64_t gpus = placed.first.spec.containers[0].requests.front().second.value();
      memory_taken[placed.second] += gpus * k8s::Quantity::parse(*memory)->value();
    }
    for (const auto& [resource, amount] : placed.first.spec.containers[0].requests) {
      taken[{placed.second, resource}] += amount.value();
    }
  }
  for (const auto& [node, amount] : memory_taken) {
    const bool shared = nodes.at(node).metadata.labels.find("nvidia.com/gpu.replicas") != nullptr;
    if (shared && amount > std::int64_t{23'034} << 20) return node + ": memory of its GPU";
  }
  for (const auto& [where, amount] : taken) {
    std::int64_t there = 0;
    for (const auto& [resource, offered] : nodes.at(where.first).status.allocatable) {
      if (resource == where.second) there = offered.value();
    }
    if (amount > there) return where.first + ": " + where.second;
  }
  return {};
}

}  // namespace

TEST_CASE(
    "No sequence of events gives a pod what its annotations forbid, or a node more than it has") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    Cluster cluster;
    std::map<std::string, k8s::Node> nodes;
    std::map<std::string, std::pair<k8s::Pod, std::string>> bound;
    std::map<std::string, k8s::Pod> pods;
    for (int i = 0; i < 12; ++i) {
      const std::string name = "n" + std::to_string(i);
      cluster.has(nodes[name] = random_node(random, name));
    }
    for (int i = 0; i < 400; ++i) {
      if (random() % 3 == 0 && !pods.empty()) {
        auto gone = pods.begin();
        std::advance(gone, static_cast<int>(random() % pods.size()));
        cluster.gone(gone->second);
        bound.erase(gone->first);
        pods.erase(gone);
      } else {
        const std::string name = "p" + std::to_string(i);
        cluster.has(pods[name] = random_pod(random, name));
      }
      for (const Decision& decision : cluster.decide()) {
        const auto* bind = std::get_if<decision::Bind>(&decision);
        if (bind == nullptr) continue;
        const k8s::Pod& object = pods.at(bind->pod.name);
        const std::string what = wrong(object, nodes.at(bind->node));
        if (!what.empty()) FAIL(bind->pod.name << " on " << bind->node << ": " << what);
        bound[bind->pod.name] = {object, bind->node};
      }
      const std::string what = overcommitted(bound, nodes);
      if (!what.empty()) FAIL(what);
    }
    CHECK(bound.size() > 10);
  }
}
