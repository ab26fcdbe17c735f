#include "scheduler/quota/charge_class.h"

#include "scheduler/quota/class_set.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace sched::quota;
using tests::node;

namespace {

// What a pod with these requests counts on that node.
GpuShare counts(const k8s::Node& on,
                const std::vector<std::pair<std::string, std::int64_t>>& requests) {
  ResourceNames names;
  const NodeFacts facts = facts_of(on, names);
  std::vector<ResourceAmount> amounts;
  for (const auto& [name, amount] : requests) amounts.push_back({names.intern(name), amount});
  return charge_of(demand_of(amounts, names), charge_class_of(facts, names).first);
}

constexpr const char* kGpu = "nvidia.com/gpu";

tests::NodeBuilder of(const char* product) { return node("n").gpus(8).product(product); }
tests::NodeBuilder shared(const char* product, const char* replicas) {
  return of(product).labelled("nvidia.com/gpu.replicas", replicas);
}

}  // namespace

TEST_CASE("what a pod counts follows from where it is") {
  struct Case {
    std::string name;
    k8s::Node on;
    std::vector<std::pair<std::string, std::int64_t>> requests;
    GpuShare want;
  };
  const GpuShare eighth = GpuShare::one_of(8);
  const std::vector<Case> cases = {
      {"whole GPUs", of("NVIDIA-H100-80GB-HBM3"), {{kGpu, 2}}, GpuShare::gpus(2)},
      {"no GPU", of("NVIDIA-H100-80GB-HBM3"), {{"cpu", 4}}, GpuShare()},
      {"without a label", node("n").gpus(8), {{kGpu, 2}}, GpuShare::gpus(2)},
      {"replicas", shared("NVIDIA-L4-SHARED", "4"), {{kGpu, 2}}, GpuShare::one_of(2)},
      {"replicas that are no divisor",
       shared("NVIDIA-L4-SHARED", "17"),
       {{kGpu, 1}},
       GpuShare::one_of(17)},
      {"replicas of their own name",
       shared("NVIDIA-L4", "4").offers("nvidia.com/gpu.shared", "32"),
       {{"nvidia.com/gpu.shared", 1}},
       GpuShare::one_of(4)},
      {"replicas of their own name, and no label says how many to a GPU",
       node("n").labelled("nvidia.com/gpu.count", "8").offers("nvidia.com/gpu.shared", "80"),
       {{"nvidia.com/gpu.shared", 5}},
       GpuShare::one_of(2)},
      {"no label says that they are shared, and one GPU is not healthy",
       of("NVIDIA-L4")
           .labelled("nvidia.com/gpu.count", "8")
           .gpus(70)
           .capacity("nvidia.com/gpu", "80"),
       {{kGpu, 5}},
       GpuShare::one_of(2)},
      {"whole GPUs beside those",
       shared("NVIDIA-L4", "4").offers("nvidia.com/gpu.shared", "32"),
       {{kGpu, 1}},
       GpuShare::gpus(1)},
      {"replicas in GKE's words",
       node("n")
           .gpus(8)
           .labelled("cloud.google.com/gke-accelerator", "nvidia-l4")
           .labelled("cloud.google.com/gke-gpu-sharing-strategy", "time-sharing")
           .labelled("cloud.google.com/gke-max-shared-clients-per-gpu", "8"),
       {{kGpu, 1}},
       eighth},
      {"replicas that nobody believes",
       shared("NVIDIA-L4-SHARED", "1000000"),
       {{kGpu, 1}},
       GpuShare::gpus(1)},
      {"replicas that are no number", shared("NVIDIA-L4", "many"), {{kGpu, 1}}, GpuShare::gpus(1)},
      {"3g of an H100",
       of("NVIDIA-H100-80GB-HBM3"),
       {{"nvidia.com/mig-3g.40gb", 1}},
       GpuShare::one_of(2)},
      {"1g of an H100",
       of("NVIDIA-H100-80GB-HBM3"),
       {{"nvidia.com/mig-1g.10gb", 7}},
       eighth.times(7)},
      {"1g.10gb of an A100-40GB takes two slices",
       of("NVIDIA-A100-SXM4-40GB"),
       {{"nvidia.com/mig-1g.10gb", 1}},
       GpuShare::one_of(4)},
      {"of an A30", of("NVIDIA-A30"), {{"nvidia.com/mig-2g.12gb", 1}}, GpuShare::one_of(2)},
      {"media engines cost nothing",
       of("NVIDIA-A100-SXM4-80GB"),
       {{"nvidia.com/mig-1g.10gb.me", 1}},
       eighth},
      {"a name of somebody's own: whole GPUs",
       node("n").offers("nvidia.com/GA102GL_A10", "4"),
       {{"nvidia.com/GA102GL_A10", 2}},
       GpuShare::gpus(2)},
      {"whole also where others are shared",
       shared("NVIDIA-L4-SHARED", "4").offers("nvidia.com/gpu-big", "2"),
       {{kGpu, 2}, {"nvidia.com/gpu-big", 2}},
       GpuShare::gpus(2) + GpuShare::one_of(2)},
      {"network devices of NVIDIA's",
       of("NVIDIA-H100-80GB-HBM3").offers("nvidia.com/hostdev", "8"),
       {{kGpu, 1}, {"nvidia.com/hostdev", 8}},
       GpuShare::gpus(1)},
      {"several profiles",
       of("NVIDIA-H100-80GB-HBM3"),
       {{"nvidia.com/mig-1g.10gb", 1}, {"nvidia.com/mig-3g.40gb", 1}},
       eighth.times(5)},
      {"strategy single", of("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"), {{kGpu, 3}}, eighth.times(3)},
      {"strategy single in GKE's words",
       node("n")
           .gpus(7)
           .labelled("cloud.google.com/gke-accelerator", "nvidia-a100-80gb")
           .labelled("cloud.google.com/gke-gpu-partition-size", "3g.40gb"),
       {{kGpu, 1}},
       GpuShare::one_of(2)},
      {"shared instances",
       of("NVIDIA-H100-80GB-HBM3").labelled("nvidia.com/mig-1g.10gb.replicas", "2"),
       {{"nvidia.com/mig-1g.10gb", 1}},
       GpuShare::one_of(16)},
      {"a model that is not known",
       of("NVIDIA-X999"),
       {{"nvidia.com/mig-1g.10gb", 2}},
       GpuShare::gpus(2)},
      {"thousandths", of("NVIDIA-L4"), {{"gpu-scheduler.io/gpu-milli", 250}}, GpuShare::one_of(4)},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(counts(c.on, c.requests) == c.want);
  }
}

TEST_CASE("nodes where everything counts alike are one class") {
  ResourceNames names;
  ChargeClasses classes;
  const auto id = [&](const k8s::Node& n) { return classes.intern(facts_of(n, names), names, {}); };
  CHECK(id(node("cpu")) == kNoGpuClass);
  const ChargeClassId h100 = id(of("NVIDIA-H100-80GB-HBM3"));
  CHECK(h100 != kNoGpuClass);
  CHECK(id(node("other").gpus(4).product("NVIDIA-H100-80GB-HBM3")) == h100);
  CHECK(id(of("NVIDIA-L4")) != h100);
  CHECK(id(shared("NVIDIA-L4-SHARED", "4")) != id(of("NVIDIA-L4")));
  CHECK(classes[id(shared("NVIDIA-L4-SHARED", "4"))].product.name == "NVIDIA-L4");
}

TEST_CASE("nodes without GPUs are in every set of classes") {
  ClassSets sets;
  const ClassSetId none = sets.intern({});
  const ClassSetId second = sets.intern({kNoGpuClass + 2});
  CHECK(sets.contains(none, kNoGpuClass));
  CHECK_FALSE(sets.contains(none, kNoGpuClass + 1));
  CHECK(sets.contains(second, kNoGpuClass));
  CHECK_FALSE(sets.contains(second, kNoGpuClass + 1));
  CHECK(sets.contains(second, kNoGpuClass + 2));
  CHECK(sets.contains(kEveryClass, kNoGpuClass + 7));
}
