// What a node offers: pieces of GPUs, and MIG instances by profile.
#include "tests/scheduler/gpu/a100_node.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using sched::gpu::GpuPiece;
using sched::gpu::Inventory;
using sched::gpu::Sharing;
using tests::a100;
using tests::inventory_of;
using tests::kA100;
using tests::node;
using tests::NodeBuilder;
using tests::sliced;

TEST_CASE("A piece of nvidia.com/gpu is what the labels say that it is") {
  struct Case {
    const char* name;
    k8s::Node given;
    std::int64_t whole;
    GpuPiece piece;
    Sharing sharing;
    std::int64_t replicas;
    const char* single_profile;
    std::int64_t memory_mib;
  };
  const std::vector<Case> cases = {
      {"whole GPUs", a100(), 8, GpuPiece::kWholeGpu, Sharing::kNone, 1, "", 40'960},
      {"no labels at all", node("a").gpus(4), 4, GpuPiece::kWholeGpu, Sharing::kNone, 1, "", 0},
      {"a product and nothing else", node("a").gpus(4).product("NVIDIA-L4"), 4, GpuPiece::kWholeGpu,
       Sharing::kNone, 1, "", 24 * 1'024},
      {"time-slicing", sliced("4"), 0, GpuPiece::kReplica, Sharing::kTimeSlicing, 4, "", 40'960},
      {"time-slicing of old",
       node("a").gpus(4).product("Tesla-T4-SHARED").labelled("nvidia.com/gpu.replicas", "4"), 0,
       GpuPiece::kReplica, Sharing::kTimeSlicing, 4, "", 16 * 1'024},
      {"time-slicing of old under a name of its own",
       node("a")
           .offers("nvidia.com/gpu.shared", "16")
           .product("Tesla-T4")
           .labelled("nvidia.com/gpu.count", "4")
           .labelled("nvidia.com/gpu.replicas", "4"),
       0, GpuPiece::kReplica, Sharing::kTimeSlicing, 4, "", 16 * 1'024},
      {"time-slicing under a name of its own",
       a100()
           .gpus(0)
           .offers("nvidia.com/gpu.shared", "32")
           .labelled("nvidia.com/gpu.replicas", "4")
           .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing"),
       0, GpuPiece::kReplica, Sharing::kTimeSlicing, 4, "", 40'960},
      {"MPS: memory in parts", sliced("4").labelled("nvidia.com/gpu.sharing-strategy", "mps"), 0,
       GpuPiece::kReplica, Sharing::kMps, 4, "", 10'240},
      {"MIG single",
       a100()
           .product(std::string(kA100) + "-MIG-1g.5gb")
           .gpus(56)
           .labelled("nvidia.com/gpu.count", "56")
           .labelled("nvidia.com/gpu.memory", "4864"),
       0, GpuPiece::kMigInstance, Sharing::kNone, 1, "1g.5gb", 4'864},
      {"MIG single, memory not said", node("a").gpus(7).product(std::string(kA100) + "-MIG-1g.5gb"),
       0, GpuPiece::kMigInstance, Sharing::kNone, 1, "1g.5gb", 5 * 1'024},
      {"MIG single and shared",
       a100()
           .product(std::string(kA100) + "-MIG-1g.5gb-SHARED")
           .gpus(112)
           .labelled("nvidia.com/gpu.count", "56")
           .labelled("nvidia.com/gpu.memory", "4864")
           .labelled("nvidia.com/gpu.replicas", "2")
           .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing"),
       0, GpuPiece::kMigInstance, Sharing::kTimeSlicing, 2, "1g.5gb", 4'864},
      {"MIG mixed, some GPUs whole",
       a100()
           .gpus(6)
           .offers("nvidia.com/mig-3g.20gb", "4")
           .labelled("nvidia.com/mig.strategy", "mixed"),
       6, GpuPiece::kWholeGpu, Sharing::kNone, 1, "", 40'960},
      {"GKE, shared by time",
       node("a")
           .gpus(8)
           .labelled("cloud.google.com/gke-accelerator", "nvidia-tesla-t4")
           .labelled("cloud.google.com/gke-accelerator-count", "2")
           .labelled("cloud.google.com/gke-gpu-sharing-strategy", "time-sharing")
           .labelled("cloud.google.com/gke-max-shared-clients-per-gpu", "4"),
       0, GpuPiece::kReplica, Sharing::kTimeSlicing, 4, "", 16 * 1'024},
      {"GKE, partitioned into instances",
       node("a")
           .gpus(7)
           .labelled("cloud.google.com/gke-accelerator", "nvidia-tesla-a100")
           .labelled("cloud.google.com/gke-gpu-partition-size", "1g.5gb"),
       0, GpuPiece::kMigInstance, Sharing::kNone, 1, "1g.5gb", 5 * 1'024},
      {"GKE, GPUs counted and partitioned",
       node("a")
           .gpus(14)
           .labelled("cloud.google.com/gke-accelerator", "nvidia-tesla-a100")
           .labelled("cloud.google.com/gke-accelerator-count", "2")
           .labelled("cloud.google.com/gke-gpu-partition-size", "1g.5gb"),
       0, GpuPiece::kMigInstance, Sharing::kNone, 1, "1g.5gb", 5 * 1'024},
      {"GKE, GPUs counted, partitioned and shared",
       node("a")
           .gpus(28)
           .labelled("cloud.google.com/gke-accelerator", "nvidia-tesla-a100")
           .labelled("cloud.google.com/gke-accelerator-count", "1")
           .labelled("cloud.google.com/gke-gpu-partition-size", "1g.5gb")
           .labelled("cloud.google.com/gke-gpu-sharing-strategy", "time-sharing")
           .labelled("cloud.google.com/gke-max-shared-clients-per-gpu", "4"),
       0, GpuPiece::kMigInstance, Sharing::kTimeSlicing, 4, "1g.5gb", 5 * 1'024},
      {"memory that the device does not report", a100().labelled("nvidia.com/gpu.memory", "0"), 8,
       GpuPiece::kWholeGpu, Sharing::kNone, 1, "", 40'960},
      {"as many pods to a GPU as are believed",
       a100()
           .gpus(8 * 1'024)
           .product(std::string(kA100) + "-SHARED")
           .labelled("nvidia.com/gpu.replicas", "1024")
           .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing"),
       0, GpuPiece::kReplica, Sharing::kTimeSlicing, 1'024, "", 40'960},
      {"as many GPUs as a machine may have", node("a").gpus(64), 64, GpuPiece::kWholeGpu,
       Sharing::kNone, 1, "", 0},
      {"Karpenter",
       node("a")
           .gpus(8)
           .labelled("karpenter.k8s.aws/instance-gpu-name", "a100")
           .labelled("karpenter.k8s.aws/instance-gpu-memory", "40960")
           .labelled("karpenter.k8s.aws/instance-gpu-count", "8"),
       8, GpuPiece::kWholeGpu, Sharing::kNone, 1, "", 40'960},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const Inventory read = inventory_of(each.given);
    CHECK(read.complaints == std::vector<std::string>{});
    CHECK(read.whole_gpus() == each.whole);
    CHECK((read.piece == each.piece));
    CHECK((read.sharing == each.sharing));
    CHECK(read.replicas == each.replicas);
    CHECK(read.single_profile == each.single_profile);
    CHECK(read.memory_mib == each.memory_mib);
    CHECK(read.has_gpu());
  }
}

TEST_CASE("Where a container may have one piece of a shared GPU alone") {
  const auto gke = [](const char* strategy, const char* gpus) {
    return node("a")
        .gpus(8)
        .labelled("cloud.google.com/gke-accelerator", "nvidia-tesla-t4")
        .labelled("cloud.google.com/gke-accelerator-count", gpus)
        .labelled("cloud.google.com/gke-gpu-sharing-strategy", strategy)
        .labelled("cloud.google.com/gke-max-shared-clients-per-gpu", "4");
  };
  struct Case {
    const char* name;
    NodeBuilder node;
    bool want;
  };
  const Case cases[] = {
      {"not shared", a100(), false},
      {"by time", sliced("4"), false},
      {"by MPS", sliced("4").labelled("nvidia.com/gpu.sharing-strategy", "mps"), true},
      {"GKE, by time", gke("time-sharing", "1"), true},
      {"GKE, by time, several GPUs", gke("time-sharing", "2"), true},
      {"GKE, by MPS", gke("mps", "1"), false},
      {"GKE, by MPS, several GPUs", gke("mps", "2"), true},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(inventory_of(each.node).one_piece_a_container == each.want);
  }
}

TEST_CASE("MIG instances of the strategy mixed are offered by profile") {
  const Inventory read = inventory_of(a100()
                                          .gpus(6)
                                          .labelled("nvidia.com/mig.strategy", "mixed")
                                          .offers("nvidia.com/mig-1g.5gb.me", "1")
                                          .offers("nvidia.com/mig-3g.20gb", "2")
                                          .labelled("nvidia.com/mig-3g.20gb.memory", "20096")
                                          .offers("nvidia.com/mig-1g.5gb.shared", "14")
                                          .labelled("nvidia.com/mig-1g.5gb.replicas", "2")
                                          .labelled("nvidia.com/mig-1g.5gb.memory", "4864")
                                          // Left over from before a repartition.
                                          .offers("nvidia.com/mig-2g.10gb", "0"));
  REQUIRE(read.instances.size() == 3);
  struct Case {
    std::size_t index;
    const char* profile;
    std::int64_t pieces;
    bool shared;
    std::int64_t memory_mib;
  };
  for (const Case& each :
       {Case{0, "1g.5gb.me", 1, false, 5 * 1'024}, Case{1, "3g.20gb", 2, false, 20'096},
        Case{2, "1g.5gb", 14, true, 4'864}}) {
    const gpu::MigInstances& instances = read.instances[each.index];
    INFO(each.profile);
    CHECK(instances.profile == each.profile);
    CHECK(instances.pieces == each.pieces);
    CHECK(instances.shared == each.shared);
    CHECK(instances.memory_mib == each.memory_mib);
  }
  CHECK(read.instance_replicas == std::vector<std::pair<std::string, std::int64_t>>{{"1g.5gb", 2}});
  CHECK(read.complaints.empty());
}

TEST_CASE("Instances are shared under their own name when labels or amounts say so") {
  const auto shared = [](const NodeBuilder& object) {
    const Inventory read = inventory_of(object);
    REQUIRE(read.instances.size() == 1);
    return read.instances.front().shared;
  };
  // How many its GPUs could hold is not known, or of which model they are.
  CHECK_FALSE(shared(node("a").product(kA100).offers("nvidia.com/mig-3g.20gb", "99")));
  CHECK_FALSE(shared(
      node("a").labelled("nvidia.com/gpu.count", "1").offers("nvidia.com/mig-3g.20gb", "99")));
  const auto offering = [](const char* pieces) {
    return a100()
        .labelled("nvidia.com/mig.strategy", "mixed")
        .offers("nvidia.com/mig-3g.20gb", pieces);
  };
  CHECK_FALSE(shared(offering("16")));
  CHECK_FALSE(shared(offering("16").labelled("nvidia.com/mig-3g.20gb.replicas", "1")));
  CHECK_FALSE(shared(offering("16").labelled("nvidia.com/mig-3g.20gb.sharing-strategy", "none")));
  CHECK(shared(offering("32").labelled("nvidia.com/mig-3g.20gb.replicas", "2")));
  CHECK(shared(offering("16").labelled("nvidia.com/mig-3g.20gb.sharing-strategy", "time-slicing")));
  CHECK(shared(offering("17")));
  CHECK_FALSE(shared(offering("16").labelled("nvidia.com/mig-2g.10gb.replicas", "2")));
  CHECK_FALSE(shared(offering("16").labelled("nvidia.com/mig-2g.10gb.sharing-strategy", "mps")));
  // Labels that are of no profile, or of no number of pods.
  const Inventory odd = inventory_of(offering("16")
                                         .labelled("nvidia.com/mig-3g.20gb.product", "2")
                                         .labelled("nvidia.com/mig-big.replicas", "2")
                                         .labelled("example.com/mig-1g.5gb.replicas", "2"));
  CHECK(odd.instance_replicas.empty());
  CHECK(odd.complaints.empty());
}

TEST_CASE("How much of a GPU an instance is follows from the model") {
  const auto slices = [](const NodeBuilder& object) {
    const Inventory read = inventory_of(object);
    REQUIRE(read.instances.size() == 1);
    return read.instances.front().slices;
  };
  CHECK(slices(node("a").product(kA100).offers("nvidia.com/mig-3g.20gb", "1")) == 4);
  CHECK(slices(node("a").product(kA100).offers("nvidia.com/mig-1g.5gb", "1")) == 1);
  CHECK(slices(node("a").product(kA100).offers("nvidia.com/mig-3g.40gb", "1")) == 0);
  CHECK(slices(node("a").offers("nvidia.com/mig-3g.20gb", "1")) == 0);
}

TEST_CASE("How GPUs are shared, in words") {
  CHECK(to_string(Sharing::kNone) == "not shared");
  CHECK(to_string(Sharing::kTimeSlicing) == "time-slicing");
  CHECK(to_string(Sharing::kMps) == "MPS");
  CHECK(to_string(Sharing::kUnknown) == "shared");
}
