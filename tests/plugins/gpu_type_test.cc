#include "tests/plugins/cluster.h"
#include "tests/plugins/labels.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

using tests::Answer;
using tests::kFits;
using tests::kMig;
using tests::kMinMemory;
using tests::kType;
using tests::make_plugin;
using tests::node;
using tests::OneNode;
using tests::our_pod;
using tests::pod;
using tests::unresolvable;

namespace {

constexpr const char* kCompute = "gpu-scheduler.io/min-compute-capability";
constexpr const char* kDriver = "gpu-scheduler.io/min-driver-version";
constexpr const char* kCuda = "gpu-scheduler.io/min-cuda-version";

tests::NodeBuilder gpus(const char* product) { return node("n").gpus(8).product(product); }
tests::PodBuilder wants(const char* key, const char* value) {
  return pod("p").gpus(1).annotated(key, value);
}

}  // namespace

TEST_CASE("GpuType lets a pod onto the GPUs that its annotations ask for") {
  struct Case {
    const char* name;
    k8s::Pod given;
    k8s::Node node;
    Answer want;
    std::vector<std::string> numbers;
  };
  const std::vector<Case> cases = {
      {"no wish", pod("p").gpus(1), gpus("NVIDIA-L4"), kFits, {}},
      {"its class", wants(kType, "H100"), gpus("NVIDIA-H100-PCIe"), kFits, {}},
      {"one of several", wants(kType, "H100,A100-80GB"), gpus("NVIDIA-A100-SXM4-80GB"), kFits, {}},
      {"another one",
       wants(kType, "H100, A100-80GB"),
       gpus("NVIDIA-A100-SXM4-40GB"),
       unresolvable({"node(s) had no GPU of type H100, A100-80GB"}),
       {"NVIDIA-A100-SXM4-40GB"}},
      {"no label",
       wants(kType, "H100"),
       node("n").gpus(8),
       unresolvable({"node(s) had no GPU of type H100"}),
       {"no GPU that a label names"}},
      {"shared GPUs are of their product", wants(kType, "L4"), gpus("NVIDIA-L4-SHARED"), kFits, {}},
      {"an instance as a label has it",
       wants(kType, "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"),
       gpus("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"),
       kFits,
       {}},
      {"an instance, and the GPU is whole",
       wants(kType, "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"),
       gpus("NVIDIA-A100-SXM4-40GB"),
       unresolvable({"node(s) had no GPU of type NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}),
       {"NVIDIA-A100-SXM4-40GB"}},
      {"a pod without GPU may ask, too",
       pod("p").annotated(kType, "L4"),
       gpus("NVIDIA-H200"),
       unresolvable({"node(s) had no GPU of type L4"}),
       {"NVIDIA-H200"}},
      {"several models on a node",
       wants(kType, "L4"),
       gpus("NVIDIA-L4").labelled("nvidia.com/gpu.count", "5"),
       unresolvable({"node(s) had GPUs of several types"}),
       {"8 nvidia.com/gpu, not all of them NVIDIA-L4"}},
      {"enough memory",
       wants(kMinMemory, "80G"),
       gpus("NVIDIA-H100-80GB-HBM3").labelled("nvidia.com/gpu.memory", "81559"),
       kFits,
       {}},
      {"a box says GB, not GiB",
       wants(kMinMemory, "80Gi"),
       gpus("NVIDIA-H100-80GB-HBM3").labelled("nvidia.com/gpu.memory", "81559"),
       unresolvable({"node(s) had no GPU with 80Gi of memory"}),
       {"NVIDIA-H100-80GB-HBM3: 79.6Gi of memory"}},
      {"memory by the product's name",
       wants(kMinMemory, "40Gi"),
       gpus("NVIDIA-L4"),
       unresolvable({"node(s) had no GPU with 40Gi of memory"}),
       {"NVIDIA-L4: 24Gi of memory"}},
      {"memory that nobody knows",
       wants(kMinMemory, "1Gi"),
       node("n").gpus(8),
       unresolvable({"node(s) had no GPU with 1Gi of memory"}),
       {"no GPU that a label names: memory not known"}},
      {"an instance's memory counts",
       pod("p").requests(kMig, "1").annotated(kMinMemory, "40Gi"),
       gpus("NVIDIA-H100-80GB-HBM3")
           .offers(kMig, "2")
           .labelled("nvidia.com/mig-3g.40gb.memory", "40448"),
       unresolvable({"node(s) had no GPU with 40Gi of memory"}),
       {"NVIDIA-H100-80GB-HBM3: 39.5Gi of memory"}},
      {"of several instances the smallest counts",
       pod("p")
           .requests(kMig, "1")
           .requests("nvidia.com/mig-1g.10gb", "1")
           .annotated(kMinMemory, "20Gi"),
       gpus("NVIDIA-H100-80GB-HBM3").offers(kMig, "2").offers("nvidia.com/mig-1g.10gb", "7"),
       unresolvable({"node(s) had no GPU with 20Gi of memory"}),
       {"NVIDIA-H100-80GB-HBM3: 10Gi of memory"}},
      {"an instance that the node does not offer",
       pod("p").requests(kMig, "1").annotated(kMinMemory, "20Gi"),
       gpus("NVIDIA-H100-80GB-HBM3").offers("nvidia.com/mig-1g.10gb", "7"),
       unresolvable({"node(s) had no GPU with 20Gi of memory"}),
       {"NVIDIA-H100-80GB-HBM3: memory not known"}},
      {"recent enough", wants(kCompute, "8.9"), gpus("NVIDIA-L4"), kFits, {}},
      {"too old",
       wants(kCompute, "9.0"),
       gpus("NVIDIA-L4"),
       unresolvable({"node(s) had no GPU of compute capability 9.0"}),
       {"NVIDIA-L4: 8.9"}},
      {"of unknown age",
       wants(kCompute, "3.5"),
       gpus("G2"),
       unresolvable({"node(s) had no GPU of compute capability 3.5"}),
       {"G2: not known"}},
      {"a recent driver",
       wants(kDriver, "570.86"),
       gpus("NVIDIA-L4").labelled("nvidia.com/cuda.driver-version.full", "570.124.06"),
       kFits,
       {}},
      {"an old driver",
       wants(kDriver, "570.86"),
       gpus("NVIDIA-L4")
           .labelled("nvidia.com/cuda.driver-version.full", "570.9.10")
           .labelled("nvidia.com/cuda.runtime-version.full", "12.8"),
       unresolvable({"node(s) had no GPU driver of version 570.86 or later"}),
       {"driver 570.9.10, CUDA 12.8"}},
      {"an old driver that is just being upgraded, by labels of old",
       wants(kDriver, "570"),
       gpus("NVIDIA-L4")
           .labelled("nvidia.com/cuda.driver.major", "550")
           .labelled("nvidia.com/cuda.driver.minor", "90")
           .labelled("nvidia.com/cuda.driver.rev", "07")
           .labelled("nvidia.com/gpu-driver-upgrade-state", "drain-required"),
       unresolvable({"node(s) had no GPU driver of version 570.0 or later"}),
       {"driver 550.90.07, nvidia.com/gpu-driver-upgrade-state: drain-required"}},
      {"an upgrade that is done",
       wants(kDriver, "570"),
       gpus("NVIDIA-L4").labelled("nvidia.com/gpu-driver-upgrade-state", "upgrade-done"),
       unresolvable({"node(s) had no GPU driver of version 570.0 or later"}),
       {"driver not known"}},
      {"CUDA that the driver serves",
       wants(kCuda, "12.8"),
       gpus("NVIDIA-L4").labelled("nvidia.com/cuda.runtime-version.full", "12.8"),
       kFits,
       {}},
      {"CUDA that it does not",
       wants(kCuda, "12.8"),
       gpus("NVIDIA-L4")
           .labelled("nvidia.com/cuda.driver-version.full", "550.90.07")
           .labelled("nvidia.com/cuda.runtime-version.full", "12.4"),
       unresolvable({"node(s) had no GPU driver for CUDA 12.8 or later"}),
       {"driver 550.90.07, CUDA 12.4"}},
      {"a vGPU has its own memory",
       wants(kMinMemory, "20Gi"),
       gpus("NVIDIA-A40-8Q")
           .labelled("nvidia.com/vgpu.present", "true")
           .labelled("nvidia.com/gpu.memory", "8192"),
       unresolvable({"node(s) had no GPU with 20Gi of memory"}),
       {"NVIDIA-A40-8Q: 8Gi of memory"}},
      {"a typo",
       wants(kMinMemory, "40Gx"),
       gpus("NVIDIA-H200"),
       unresolvable({"gpu-scheduler.io/min-gpu-memory: \"40Gx\" is not an amount of memory, such "
                     "as 40Gi"}),
       {}},
      {"a typo in the key",
       wants("gpu-scheduler.io/gpu-tpye", "H100"),
       gpus("NVIDIA-L4"),
       unresolvable({"annotation gpu-scheduler.io/gpu-tpye is not known; "
                     "gpu-scheduler.io/gpu-type is"}),
       {}},
      {"a key that is like none",
       wants("gpu-scheduler.io/gpu-model", "H100"),
       gpus("NVIDIA-L4"),
       unresolvable({"annotation gpu-scheduler.io/gpu-model is not known; the nearest is "
                     "gpu-scheduler.io/gpu-type"}),
       {}},
      {"a typo that others are to tell of",
       wants("gpu-scheduler.io/sharing", "x"),
       gpus("NVIDIA-L4"),
       kFits,
       {}},
  };
  const auto made = make_plugin("GpuType");
  REQUIRE(made);
  for (const Case& each : cases) {
    INFO(each.name);
    OneNode there(each.node);
    CHECK(there.ask(*made->filter, each.given) == each.want);
    CHECK(there.numbers(*made->filter, each.given) == each.numbers);
  }
}

TEST_CASE("Of several types the first is worth the most") {
  const auto made = make_plugin("GpuType");
  REQUIRE(made);
  CHECK(made->score->goes_first());
  const k8s::Pod given = wants(kType, "H100,A100,L4");
  CHECK(OneNode(gpus("NVIDIA-H100-PCIe")).score(*made->score, given) == 2);
  CHECK(OneNode(gpus("NVIDIA-A100-SXM4-40GB")).score(*made->score, given) == 1);
  CHECK(OneNode(gpus("NVIDIA-L4")).score(*made->score, given) == 0);
  CHECK(OneNode(gpus("NVIDIA-L4")).score(*made->score, wants(kType, "L4")) == -1);
  CHECK(OneNode(gpus("NVIDIA-L4")).score(*made->score, wants(kType, "L4,A100")) == 1);
  const k8s::Pod many = wants(kType, "L4,A,B,C,D,E,F,G,H,I,J,K,M,N,O,P");
  CHECK(OneNode(gpus("NVIDIA-L4")).score(*made->score, many) == 15);
  CHECK(made->score->max_score() == 16);
}

TEST_CASE("What no node of a cluster has is told to the pod that wants it") {
  struct Case {
    const char* name;
    std::vector<const char*> products;  // of a node each; null: no label names it
    const char* key;
    const char* value;
    const char* want;
  };
  const std::vector<Case> cases = {
      {"a type, where no GPU has a name",
       {nullptr},
       kType,
       "H100",
       "No node has a GPU of type H100, nor of any that labels name."},
      {"a type, with the three nearest by class, then by name",
       {"NVIDIA-A100-SXM4-80GB", "NVIDIA-L40S", "NVIDIA-L40", "NVIDIA-L4"},
       kType,
       "L41",
       "the nearest are L4: NVIDIA-L4 (1 node), L40: NVIDIA-L40 (1 node), L40S: NVIDIA-L40S (1 "
       "node)."},
      {"a type, where products are of no class",
       {"G2", "G2"},
       kType,
       "G3",
       "the nearest are G2 (2 nodes)."},
      {"memory that is nowhere known",
       {nullptr},
       kMinMemory,
       "40Gi",
       "No node is known to have GPUs with 40Gi of memory."},
      {"memory: the most that there is",
       {"NVIDIA-L4", "NVIDIA-A100-SXM4-40GB", "Tesla-T4"},
       kMinMemory,
       "80Gi",
       "the most is 40Gi (NVIDIA-A100-SXM4-40GB)."},
      {"a capability that is nowhere known",
       {"G2"},
       kCompute,
       "8.0",
       "compute capability 8.0; the highest is not known."},
      {"a capability: the highest that there is",
       {"NVIDIA-L4", "NVIDIA-A100-SXM4-40GB"},
       kCompute,
       "9.0",
       "compute capability 9.0; the highest is 8.9."},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    tests::Cluster cluster;
    std::string name = "n";
    for (const char* product : each.products) {
      tests::NodeBuilder made = node(name += "1").gpus(8);
      if (product != nullptr) made.product(product);
      cluster.has(k8s::Node(made));
    }
    CHECK_THAT(cluster.place(our_pod("p").gpus(1).annotated(each.key, each.value)),
               Catch::Contains(each.want));
  }
}

TEST_CASE("Of MIG instances that are too small the most is that of such instances") {
  tests::Cluster cluster;
  const auto asks = [](const char* name, const char* profile) {
    return our_pod(name)
        .requests(std::string("nvidia.com/mig-") + profile, "1")
        .annotated(kMinMemory, "40Gi");
  };
  // The first node that comes is neither the first by name nor by product.
  for (const char* product : {"NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB"}) {
    cluster.has(k8s::Node(node(product[7] == 'H' ? "a" : "b")
                              .product(product)
                              .offers("nvidia.com/mig-1g.10gb", "7")));
  }
  CHECK_THAT(cluster.place(asks("p", "1g.10gb")),
             Catch::Contains("No node has such MIG instances with 40Gi of memory; the most is 10Gi "
                             "(NVIDIA-A100-SXM4-80GB)."));
  // Which no node offers: nothing is known of their memory, but much of the GPUs'.
  CHECK_THAT(cluster.place(asks("q", "7g.80gb")), !Catch::Contains("40Gi of memory."));
}

TEST_CASE(
    "Of the types that a pod lists those are told of that no node has, and the newest driver") {
  tests::Cluster cluster;
  const auto with_driver = [](const char* name, const char* driver, const char* cuda) {
    return node(name)
        .gpus(8)
        .product("NVIDIA-L4")
        .labelled("nvidia.com/cuda.driver-version.full", driver)
        .labelled("nvidia.com/cuda.runtime-version.full", cuda);
  };
  cluster.has(k8s::Node(with_driver("a", "550.54", "12.4")));
  cluster.has(k8s::Node(with_driver("b", "570.86", "12.8")));
  cluster.has(k8s::Node(with_driver("c", "535.1", "12.2")));
  const auto wanting = [](const char* name) {
    return our_pod(name).gpus(1).annotated(kType, "H100, L4");
  };
  const std::string told = cluster.place(wanting("p").annotated(kMinMemory, "80Gi"));
  CHECK_THAT(told, Catch::Contains("No node has a GPU of type H100; the nearest are L4: NVIDIA-L4 "
                                   "(3 nodes). No node has GPUs with 80Gi of memory; the most is "
                                   "24Gi (NVIDIA-L4)."));
  CHECK_THAT(told, !Catch::Contains("of type L4"));
  CHECK_THAT(
      cluster.place(wanting("q").annotated(kDriver, "580").annotated(kCuda, "13.0")),
      Catch::Contains("No node is known to have a GPU driver of version 580.0 or later; the "
                      "newest is 570.86. No node is known to have a GPU driver for CUDA 13.0 "
                      "or later; the newest is 12.8."));
}
