// What a node offers where its labels are missing or are those of an earlier configuration.
#include "tests/scheduler/gpu/a100_node.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <string>
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

TEST_CASE("How many share a GPU follows from the amounts where no label says it") {
  struct Case {
    const char* name;
    NodeBuilder given;
    std::int64_t replicas;
    Sharing sharing;
  };
  const auto gpus = [](std::int64_t offered, const char* count, const char* capacity = "0") {
    return node("a")
        .gpus(offered)
        .labelled("nvidia.com/gpu.count", count)
        .capacity("nvidia.com/gpu", capacity);
  };
  const auto by_name = [](const char* offered, const char* capacity = "0") {
    return node("a")
        .offers("nvidia.com/gpu.shared", offered)
        .labelled("nvidia.com/gpu.count", "8")
        .capacity("nvidia.com/gpu.shared", capacity);
  };
  const std::vector<Case> cases = {
      {"all are healthy", gpus(80, "8", "80"), 10, Sharing::kUnknown},
      {"one of its GPUs is not", gpus(70, "8", "80"), 10, Sharing::kUnknown},
      {"the device plugin restarts", gpus(0, "4", "40"), 10, Sharing::kUnknown},
      {"a whole GPU is not healthy", gpus(7, "8", "8"), 1, Sharing::kNone},
      {"no multiple", gpus(12, "8", "12"), 1, Sharing::kNone},
      {"the name says that they are shared", by_name("80", "80"), 10, Sharing::kUnknown},
      {"the same, and one GPU is not healthy", by_name("70", "80"), 10, Sharing::kUnknown},
      {"the same without capacity", by_name("80"), 10, Sharing::kUnknown},
      {"the same, and no multiple", by_name("12"), 1, Sharing::kUnknown},
      {"a label says it", by_name("80").labelled("nvidia.com/gpu.replicas", "20"), 20,
       Sharing::kTimeSlicing},
      {"a label says how, and none by how many",
       gpus(16, "8").labelled("nvidia.com/gpu.sharing-strategy", "mps"), 2, Sharing::kMps},
      {"instances", by_name("80").product(std::string(kA100) + "-MIG-1g.5gb"), 1,
       Sharing::kUnknown},
      // It was configured otherwise until now.
      {"a name that the device plugin uses no more",
       gpus(8, "8", "8").capacity("nvidia.com/gpu.shared", "80"), 1, Sharing::kNone},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const Inventory read = inventory_of(each.given);
    CHECK(read.replicas == each.replicas);
    CHECK((read.sharing == each.sharing));
  }
}

TEST_CASE("After a repartition under single, the configuration says what the old label does not") {
  const auto configured = [](const NodeBuilder& of, const char* config,
                             const char* state = "success") {
    return NodeBuilder(of)
        .labelled("nvidia.com/mig.config", config)
        .labelled("nvidia.com/mig.config.state", state);
  };
  const NodeBuilder was_partitioned = a100()
                                          .product(std::string(kA100) + "-MIG-3g.20gb")
                                          .labelled("nvidia.com/gpu.count", "16")
                                          .labelled("nvidia.com/gpu.memory", "20096");
  const NodeBuilder one = a100().labelled("nvidia.com/gpu.count", "1");
  const NodeBuilder was_mixed = NodeBuilder(one).labelled("nvidia.com/mig.strategy", "mixed");
  struct Case {
    const char* name;
    NodeBuilder given;
    const char* profile;
    std::int64_t memory_mib;
    bool complains;
  };
  const std::vector<Case> cases = {
      {"partitioned", configured(a100().gpus(56), "all-1g.5gb"), "1g.5gb", 5 * 1'024, true},
      {"one GPU", configured(NodeBuilder(one).gpus(7), "all-1g.5gb"), "1g.5gb", 5 * 1'024, true},
      {"repartitioned", configured(NodeBuilder(was_partitioned).gpus(56), "all-1g.5gb"), "1g.5gb",
       5 * 1'024, true},
      {"not partitioned yet", configured(a100(), "all-1g.5gb"), "", 40'960, false},
      {"not repartitioned yet", configured(NodeBuilder(was_partitioned).gpus(16), "all-1g.5gb"),
       "3g.20gb", 20'096, false},
      {"the label is right", configured(NodeBuilder(was_partitioned).gpus(16), "all-3g.20gb"),
       "3g.20gb", 20'096, false},
      {"it failed", configured(NodeBuilder(one).gpus(7), "all-1g.5gb", "failed"), "", 40'960, true},
      {"no profile of this model", configured(NodeBuilder(one).gpus(7), "all-1g.10gb.gfx"), "",
       40'960, true},
      {"mixed",
       configured(a100().labelled("nvidia.com/mig.strategy", "mixed"), "all-7g.40gb").gpus(8), "",
       40'960, false},
      {"mixed until now", configured(NodeBuilder(was_mixed).gpus(7), "all-1g.5gb"), "1g.5gb",
       5 * 1'024, true},
      {"whole again", configured(was_partitioned, "all-disabled"), "", 40'960, true},
      {"not whole yet", configured(NodeBuilder(was_partitioned).gpus(16), "all-disabled"),
       "3g.20gb", 20'096, false},
      {"not all of them whole", configured(was_partitioned, "half-of-them"), "3g.20gb", 20'096,
       false},
      {"whole all the time", configured(a100(), "all-disabled"), "", 40'960, false},
      {"still mixed",
       configured(NodeBuilder(was_mixed).gpus(0), "all-1g.5gb")
           .capacity("nvidia.com/gpu", "7")
           .offers("nvidia.com/mig-1g.5gb", "7"),
       "", 40'960, false},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const Inventory read = inventory_of(each.given);
    CHECK(read.single_profile == each.profile);
    CHECK((read.piece == GpuPiece::kMigInstance) == (*each.profile != '\0'));
    CHECK(read.memory_mib == each.memory_mib);
    CHECK(read.complaints.empty() != each.complains);
  }
  CHECK(inventory_of(cases.front().given).gpu_count == 56);
  CHECK(inventory_of(cases.front().given).complaints ==
        std::vector<std::string>{
            "label nvidia.com/mig.config: all-1g.5gb, but the product label says whole GPUs: 56 "
            "nvidia.com/gpu count as 1g.5gb"});
}

TEST_CASE(
    "A node that offers fewer GPUs than it has is no contradiction where GPUs may be partitioned") {
  const NodeBuilder mixed = a100().gpus(7).labelled("nvidia.com/mig.strategy", "mixed");
  for (const k8s::Node& object :
       {k8s::Node(NodeBuilder(mixed)),
        k8s::Node(NodeBuilder(mixed).offers("nvidia.com/mig-3g.20gb", "2")),
        k8s::Node(a100().gpus(0)),
        // No number of whole GPUs is missing.
        k8s::Node(sliced("4").gpus(30)),
        // Time-sliced MIG instances beside whole GPUs.
        k8s::Node(sliced("4").gpus(30).labelled("nvidia.com/mig.strategy", "mixed"))}) {
    CHECK(inventory_of(object).complaints == std::vector<std::string>{});
  }
}
