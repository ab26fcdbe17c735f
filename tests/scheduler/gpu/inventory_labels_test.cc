// What labels say of the GPUs of a node besides, and what of it is complained of.
#include "tests/scheduler/gpu/a100_node.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <string>
#include <vector>

using namespace sched;
using sched::gpu::Inventory;
using sched::gpu::Sharing;
using tests::a100;
using tests::inventory_of;
using tests::kA100;
using tests::node;
using tests::NodeBuilder;
using tests::sliced;

TEST_CASE("What the labels of a node say besides is kept") {
  const Inventory read =
      inventory_of(a100()
                       .labelled("nvidia.com/cuda.driver-version.full", "570.124.06")
                       .labelled("nvidia.com/cuda.runtime-version.full", "12.8"));
  CHECK(read.product.name == kA100);
  CHECK(to_string(read.compute) == "8.0");
  CHECK(read.driver == "570.124.06");
  CHECK(read.cuda == "12.8");
  CHECK(platform_of(read) == "NVIDIA-A100-SXM4-40GB, driver 570.124.06, CUDA 12.8");
  CHECK(platform_of(inventory_of(node("a"))).empty());
  CHECK(read.gpu_count == 8);
  CHECK(read.mig_capable);
  CHECK(read.mig_strategy == "single");
  CHECK(to_string(inventory_of(node("a").gpus(1).product("NVIDIA-L4")).compute) == "8.9");
  CHECK_FALSE(inventory_of(node("a")).has_gpu());
  const Inventory amd = inventory_of(node("a").offers("amd.com/gpu", "8"));
  CHECK_FALSE(amd.has_gpu());
  CHECK(amd.is_gpu_node());
  CHECK_FALSE(inventory_of(node("a").offers("amd.com/gpu", "0")).is_gpu_node());
  CHECK(inventory_of(a100().gpus(0)).is_gpu_node());
}

TEST_CASE("Labels and amounts that make no sense are complained of and read with caution") {
  struct Case {
    const char* name;
    k8s::Node given;
    const char* complaint;  // a part of the first
    std::int64_t whole;
  };
  const std::vector<Case> cases = {
      {"a count that is no number", a100().labelled("nvidia.com/gpu.count", "eight"),
       "label nvidia.com/gpu.count: \"eight\" is not a whole number", 8},
      {"a negative memory", a100().labelled("nvidia.com/gpu.memory", "-1"),
       "label nvidia.com/gpu.memory: \"-1\"", 8},
      {"a number beyond all bounds", a100().labelled("nvidia.com/gpu.replicas", "9999999999999"),
       "label nvidia.com/gpu.replicas: \"9999999999999\"", 8},
      {"more pods to a GPU than anybody would let share it",
       sliced("4").labelled("nvidia.com/gpu.replicas", "1000000"),
       "labels say that 1000000 pods share a GPU", 0},
      {"the same of an instance",
       a100()
           .labelled("nvidia.com/mig.strategy", "mixed")
           .labelled("nvidia.com/mig-1g.5gb.replicas", "1000000"),
       "labels say that 1000000 pods share a GPU", 8},
      {"replicas of an instance that are no number",
       a100()
           .labelled("nvidia.com/mig.strategy", "mixed")
           .labelled("nvidia.com/mig-1g.5gb.replicas", "some"),
       "label nvidia.com/mig-1g.5gb.replicas: \"some\" is not a whole number", 8},
      {"a fraction", a100().labelled("nvidia.com/gpu.count", "8.5"), "\"8.5\"", 8},
      {"a flag that is none", a100().labelled("nvidia.com/mig.capable", "yes"),
       "label nvidia.com/mig.capable: \"yes\" is none of its values (true, false)", 8},
      {"an unknown strategy", a100().labelled("nvidia.com/mig.strategy", "double"),
       "\"double\" is none of its values", 8},
      {"an unknown state", a100().labelled("nvidia.com/mig.config.state", "almost"),
       "\"almost\" is none of its values", 8},
      {"replicas, but no strategy", a100().labelled("nvidia.com/gpu.replicas", "4"),
       "it is not clear how its GPUs are shared", 0},
      {"an unknown sharing strategy",
       a100().labelled("nvidia.com/gpu.sharing-strategy", "politely"),
       "it is not clear how its GPUs are shared", 0},
      {"SHARED, and not shared", a100().product(std::string(kA100) + "-SHARED"),
       "it is not clear how its GPUs are shared", 0},
      {"shared, by nobody knows how many",
       a100().labelled("nvidia.com/gpu.sharing-strategy", "mps"), "does not say by how many", 0},
      {"one shared GPU, and no strategy", a100().offers("nvidia.com/gpu.shared", "1"),
       "it is not clear how its GPUs are shared", 0},
      {"both forms of sharing", sliced("4").offers("nvidia.com/gpu.shared", "4"),
       "both count as shared", 0},
      {"more GPUs than of the product", a100().gpus(12),
       "it offers 12 pieces of GPUs, but has 8 NVIDIA-A100-SXM4-40GB", 12},
      {"more replicas than there can be", sliced("2"),
       "it offers 32 pieces of GPUs, but has 8 NVIDIA-A100-SXM4-40GB with 2 to each", 0},
      {"more instances than GKE can partition its GPUs into",
       node("a")
           .gpus(8)
           .labelled("cloud.google.com/gke-accelerator", "nvidia-tesla-a100")
           .labelled("cloud.google.com/gke-accelerator-count", "1")
           .labelled("cloud.google.com/gke-gpu-partition-size", "1g.5gb"),
       "it offers 8 pieces of GPUs, but has 1 nvidia-tesla-a100 with 7 to each", 0},
      {"as many pieces to each GPU, and nothing says how",
       node("a").gpus(80).product(kA100).labelled("nvidia.com/gpu.count", "8"),
       "it has 80 nvidia.com/gpu, but 8 NVIDIA-A100-SXM4-40GB: they count as shared, 10 pieces to "
       "each",
       0},
      {"the same by a cloud's count",
       node("a").gpus(4).labelled("karpenter.k8s.aws/instance-gpu-count", "1"),
       "it has 4 nvidia.com/gpu, but 1 GPUs: they count as shared, 4 pieces to each", 0},
      {"the same by Karpenter's count on Azure",
       node("a").gpus(8).labelled("karpenter.azure.com/sku-gpu-count", "2"),
       "it has 8 nvidia.com/gpu, but 2 GPUs: they count as shared, 4 pieces to each", 0},
      {"more than a machine has, and GPU feature discovery says that none is shared",
       a100().gpus(80), "they count as shared, 10 pieces to each", 0},
      {"as many again, and GPU feature discovery says that none is shared", a100().gpus(16),
       "GPUs of several models", 16},
      {"more GPUs than any machine has", node("a").gpus(65), "than any machine has", 65},
      {"one pod too many to a GPU", sliced("4").labelled("nvidia.com/gpu.replicas", "1025"),
       "labels say that 1025 pods share a GPU", 0},
      {"another partition size than in the product's label",
       a100()
           .product(std::string(kA100) + "-MIG-1g.5gb")
           .gpus(56)
           .labelled("nvidia.com/gpu.count", "56")
           .labelled("nvidia.com/gpu.memory", "4864")
           .labelled("cloud.google.com/gke-gpu-partition-size", "2g.10gb"),
       "label cloud.google.com/gke-gpu-partition-size: 2g.10gb, but the product label says 1g.5gb",
       0},
      {"less than nothing", node("a").offers("nvidia.com/gpu", "-4"), "it offers -4 nvidia.com/gpu",
       0},
      {"a MIG configuration that the plugin refuses",
       a100().product(std::string(kA100) + "-MIG-INVALID").gpus(0),
       "its GPUs are not all partitioned alike, as mig.strategy single requires: none is on offer",
       0},
      {"a profile of another model", a100().product(std::string(kA100) + "-MIG-1g.12gb"),
       "1g.12gb is no MIG profile of NVIDIA-A100-SXM4-40GB", 0},
      {"instances of a profile of another model",
       a100().labelled("nvidia.com/mig.strategy", "mixed").offers("nvidia.com/mig-3g.40gb", "1"),
       "3g.40gb is no MIG profile of NVIDIA-A100-SXM4-40GB", 8},
      {"more instances than the GPUs can hold",
       a100().labelled("nvidia.com/mig.strategy", "mixed").offers("nvidia.com/mig-3g.20gb", "17"),
       "can hold 16 at most: they count as shared", 8},
      {"a GPU that is gone", a100().gpus(7),
       "it offers 7 of its 8 NVIDIA-A100-SXM4-40GB: 1 missing", 7},
      {"a shared GPU that is gone", sliced("4").gpus(28),
       "it offers 7 of its 8 NVIDIA-A100-SXM4-40GB: 1 missing", 0},
      {"GPUs that are gone by a cloud's count",
       node("a").gpus(6).labelled("karpenter.k8s.aws/instance-gpu-count", "8"),
       "it offers 6 of its 8 GPUs: 2 missing", 6},
      {"a GPU that is gone where none is in MIG mode",
       a100()
           .gpus(7)
           .labelled("nvidia.com/mig.strategy", "mixed")
           .labelled("nvidia.com/mig.config", "all-disabled"),
       "1 missing", 7},
      {"a resource that names no profile", a100().offers("nvidia.com/mig-big", "1"),
       "resource nvidia.com/mig-big is not that of a MIG profile", 8},
      {"mixed resources under single", a100().offers("nvidia.com/mig-3g.20gb", "1"),
       "although label nvidia.com/mig.strategy says single", 8},
      {"an instance, and the strategy none",
       a100()
           .product(std::string(kA100) + "-MIG-1g.5gb")
           .labelled("nvidia.com/gpu.memory", "4864")
           .labelled("nvidia.com/mig.strategy", "none"),
       "they count as such", 0},
      {"an instance, and the strategy mixed",
       a100()
           .product(std::string(kA100) + "-MIG-1g.5gb")
           .labelled("nvidia.com/gpu.memory", "4864")
           .labelled("nvidia.com/mig.strategy", "mixed"),
       "they count as such", 0},
      {"a GPU that is gone where none can be partitioned",
       a100()
           .gpus(7)
           .labelled("nvidia.com/mig.strategy", "mixed")
           .labelled("nvidia.com/mig.capable", "false"),
       "1 missing", 7},
      {"memory that the product does not have", a100().labelled("nvidia.com/gpu.memory", "81920"),
       "label nvidia.com/gpu.memory: 81920 MiB, but NVIDIA-A100-SXM4-40GB has 40 GB; the lesser "
       "counts",
       8},
      {"the same by a cloud's label: a part of a GPU",
       node("a")
           .gpus(1)
           .labelled("karpenter.k8s.aws/instance-gpu-name", "l4")
           .labelled("karpenter.k8s.aws/instance-gpu-memory", "2861"),
       "label karpenter.k8s.aws/instance-gpu-memory: 2861 MiB, but l4 has 24 GB; the lesser counts",
       1},
      {"a capability that the product does not have",
       a100().labelled("nvidia.com/gpu.compute.major", "9"), "has 8.0; the lesser counts", 8},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const Inventory read = inventory_of(each.given);
    REQUIRE_FALSE(read.complaints.empty());
    CHECK_THAT(read.complaints.front(), Catch::Contains(each.complaint));
    CHECK(read.whole_gpus() == each.whole);
  }
  CHECK(inventory_of(a100().labelled("nvidia.com/gpu.memory", "81920")).memory_mib == 40 * 1'024);
  // A part of MPS is not as large as the GPU, however many parts it has.
  CHECK(inventory_of(a100().labelled("nvidia.com/gpu.sharing-strategy", "mps")).memory_mib == 0);
  const auto compute = [](const char* major, const char* minor) {
    return to_string(inventory_of(a100()
                                      .labelled("nvidia.com/gpu.compute.major", major)
                                      .labelled("nvidia.com/gpu.compute.minor", minor))
                         .compute);
  };
  CHECK(compute("9", "0") == "8.0");
  CHECK(compute("8", "6") == "8.0");
  CHECK(compute("7", "5") == "7.5");
  CHECK(compute("7", "") == "7.0");
  // Of a product that is not known the labels count.
  const Inventory unknown = inventory_of(node("a")
                                             .gpus(1)
                                             .product("G2")
                                             .labelled("nvidia.com/gpu.compute.major", "9")
                                             .labelled("nvidia.com/gpu.compute.minor", "1"));
  CHECK(to_string(unknown.compute) == "9.1");
  CHECK(unknown.complaints.empty());
  CHECK(inventory_of(a100().gpus(12)).mixed_products);
  CHECK_FALSE(inventory_of(sliced("2")).mixed_products);
  const Inventory hami =
      inventory_of(node("a").gpus(80).product(kA100).labelled("nvidia.com/gpu.count", "8"));
  CHECK((hami.sharing == Sharing::kUnknown));
  CHECK(hami.replicas == 10);
  CHECK_FALSE(hami.mixed_products);
}

TEST_CASE("A virtual GPU has the memory that it says, and cannot be partitioned") {
  for (const char* product : {"NVIDIA-A100-20C", "NVIDIA-A100-SXM4-40GB", "NVIDIA-L40S"}) {
    INFO(product);
    const Inventory read = inventory_of(node("a")
                                            .gpus(1)
                                            .product(product)
                                            .labelled("nvidia.com/vgpu.present", "true")
                                            .labelled("nvidia.com/gpu.memory", "20480"));
    CHECK(read.product.gpu_class != nullptr);
    CHECK(read.product.geometry == nullptr);
    CHECK(read.memory_mib == 20'480);
    CHECK(read.complaints.empty());
  }
  const Inventory part = inventory_of(
      node("a").gpus(1).product("NVIDIA-A40-8Q").labelled("nvidia.com/gpu.memory", "8192"));
  CHECK(part.memory_mib == 8'192);
  CHECK(part.complaints.empty());
  CHECK(inventory_of(
            node("a").gpus(1).product("NVIDIA-A40-8Q").labelled("nvidia.com/vgpu.present", "true"))
            .memory_mib == 8'192);
  CHECK(inventory_of(a100().labelled("nvidia.com/vgpu.present", "false")).product.geometry !=
        nullptr);
}

TEST_CASE("Versions of driver and CUDA are read from their parts where no label has them whole") {
  const auto driver = [](const NodeBuilder& object) { return inventory_of(object).driver; };
  const auto parts = [] {
    return node("a")
        .labelled("nvidia.com/cuda.driver.major", "550")
        .labelled("nvidia.com/cuda.driver.minor", "90");
  };
  CHECK(driver(node("a")).empty());
  CHECK(driver(parts()) == "550.90");
  CHECK(driver(parts().labelled("nvidia.com/cuda.driver.rev", "07")) == "550.90.07");
  CHECK(driver(node("a")
                   .labelled("nvidia.com/cuda.driver.major", "550")
                   .labelled("nvidia.com/cuda.driver.rev", "07")) == "550");
  CHECK(driver(parts().labelled("nvidia.com/cuda.driver-version.full", "570.1")) == "570.1");
  const Inventory read = inventory_of(node("a")
                                          .product("NVIDIA-L4")
                                          .labelled("nvidia.com/cuda.runtime.major", "12")
                                          .labelled("nvidia.com/cuda.runtime.minor", "4"));
  CHECK(read.cuda == "12.4");
  CHECK(platform_of(read) == "NVIDIA-L4, CUDA 12.4");
  CHECK(platform_of(inventory_of(parts())) == "driver 550.90");
}

TEST_CASE("a label may say a little more or less memory than the product has") {
  struct Case {
    const char* mib;
    std::int64_t gpus;
    std::int64_t counts_mib;
    bool complains;
  };
  // Of 40 GB: from 32 to 44.
  const Case cases[] = {{"32767", 8, 32'767, true},  {"32768", 8, 32'768, false},
                        {"40960", 8, 40'960, false}, {"45056", 8, 45'056, false},
                        {"45057", 8, 40'960, true},  {"81920", 0, 81'920, false}};
  for (const Case& each : cases) {
    INFO(each.mib << " MiB, " << each.gpus << " GPUs");
    const Inventory read =
        inventory_of(a100().gpus(each.gpus).labelled("nvidia.com/gpu.memory", each.mib));
    CHECK(read.memory_mib == each.counts_mib);
    CHECK_FALSE(read.complaints.empty() == each.complains);
  }
  // For an unknown product the label is used.
  CHECK(inventory_of(a100().product("NVIDIA-X").labelled("nvidia.com/gpu.memory", "9999"))
            .memory_mib == 9'999);
}

TEST_CASE("A site's own labels count where nobody else's say it") {
  const sched::gpu::SiteLabels site{.product = {"gpu-type", "model"}, .memory = {"gpu-memory"}};
  const auto read = [&](const k8s::Node& object) {
    ResourceNames names;
    return facts_of(object, names, site).gpu;
  };
  const NodeBuilder plain = node("a").gpus(8);
  const auto with = [&](const char* key, const char* value) {
    return NodeBuilder(plain).labelled("gpu-type", "a100").labelled(key, value);
  };
  const Inventory a100_80 = read(with("gpu-memory", "80Gi"));
  CHECK(a100_80.product.name == "a100");
  REQUIRE(a100_80.product.gpu_class != nullptr);
  CHECK(a100_80.product.gpu_class->name == "A100");
  CHECK(a100_80.memory_mib == 80 * 1'024);
  CHECK(a100_80.complaints == std::vector<std::string>{});
  CHECK(read(with("gpu-memory", "40960")).memory_mib == 40 * 1'024);
  const auto memory_of_unknown = [&](const char* memory) {
    return read(node("a").gpus(1).labelled("gpu-type", "G2").labelled("gpu-memory", memory))
        .memory_mib;
  };
  CHECK(memory_of_unknown("1048575") == 1'048'575);  // MiB
  CHECK(memory_of_unknown("1048576") == 1);          // bytes
  CHECK(memory_of_unknown("1") == 1);
  CHECK(read(with("gpu-memory", "0")).complaints.size() == 1);
  CHECK(read(with("gpu-memory", "lots")).complaints ==
        std::vector<std::string>{
            "label gpu-memory: \"lots\" is not an amount of memory, such as 80Gi"});
  CHECK(read(node("a").gpus(1).labelled("gpu-type", "l4").labelled("gpu-memory", "80Gi"))
            .complaints == std::vector<std::string>{
                               "label gpu-memory: 81920 MiB, but l4 has 24 GB; the lesser counts"});
  CHECK(read(with("model", "H100")).product.name == "a100");  // the first of them
  CHECK(read(with("nvidia.com/gpu.product", "NVIDIA-L4")).product.name == "NVIDIA-L4");
  CHECK(read(with("nvidia.com/gpu.memory", "40536")).memory_mib == 40'536);
  CHECK(read(node("a").labelled("gpu-type", "a100")).is_gpu_node());  // no device plugin yet
  CHECK(inventory_of(with("gpu-memory", "80Gi")).product.name.empty());
}
