#include "scheduler/quota/type_choice.h"

#include "scheduler/quota/charge_class.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

using namespace sched;
using namespace sched::quota;
using tests::label;
using tests::node;
using tests::pod;
using tests::term;

namespace {

constexpr const char* kProduct = "nvidia.com/gpu.product";
constexpr const char* kType = "gpu-scheduler.io/gpu-type";

// The nodes of a cluster, one of each class; by name those that the pod allows.
std::vector<std::string> allowed(const k8s::Pod& asks, bool enforces_types = true) {
  const std::vector<k8s::Node> nodes = {
      node("a100").gpus(8).product("NVIDIA-A100-SXM4-80GB"),
      node("h100")
          .gpus(8)
          .product("NVIDIA-H100-80GB-HBM3")
          .labelled("nvidia.com/gpu.family", "hopper"),
      node("l4").gpus(8).product("NVIDIA-L4"),
      node("l4-shared")
          .gpus(8)
          .product("NVIDIA-L4-SHARED")
          .labelled("nvidia.com/gpu.replicas", "4"),
      node("single").gpus(7).product("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"),
      node("gke").gpus(8).labelled("cloud.google.com/gke-accelerator", "nvidia-h100-80gb"),
      node("own").gpus(8).labelled("gpu-type", "t4"),
      node("unknown").gpus(8)};
  const gpu::SiteLabels site{.product = {"gpu-type"}, .memory = {}};
  ResourceNames names;
  const TypeChoice choice = choice_of(shape_of(asks, names), enforces_types, site);
  std::vector<std::string> found;
  for (const k8s::Node& each : nodes) {
    const auto [gpus, has_gpus] = charge_class_of(facts_of(each, names, site), names, site);
    if (has_gpus && allows(choice, gpus)) found.push_back(each.metadata.name);
  }
  return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a pod allows the types that its selectors and its annotation name") {
  const Names all = {"a100", "h100", "l4", "l4-shared", "single", "gke", "own", "unknown"};
  struct Case {
    std::string name;
    k8s::Pod asks;
    Names want;
  };
  const std::vector<Case> cases = {
      {"nothing", pod("p").gpus(1), all},
      {"another label", pod("p").gpus(1).selects("rack", "b"), all},
      {"a product", pod("p").gpus(1).selects(kProduct, "NVIDIA-L4"), {"l4"}},
      {"a product of shared GPUs",
       pod("p").requests("nvidia.com/gpu.shared", "1").selects(kProduct, "NVIDIA-L4-SHARED"),
       {"l4-shared"}},
      {"a product of instances",
       pod("p").gpus(1).selects(kProduct, "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"),
       {"single"}},
      {"a cloud's label",
       pod("p").gpus(1).selects("cloud.google.com/gke-accelerator", "nvidia-h100-80gb"),
       {"gke"}},
      {"a label of the site's own", pod("p").gpus(1).selects("gpu-type", "t4"), {"own"}},
      {"another value of it", pod("p").gpus(1).selects("gpu-type", "T4"), {}},
      {"what it names", pod("p").gpus(1).annotated(kType, "T4"), {"own"}},
      {"a family", pod("p").gpus(1).selects("nvidia.com/gpu.family", "hopper"), {"h100"}},
      {"one of several",
       pod("p").gpus(1).requires_nodes(
           {term({label(kProduct).in({"NVIDIA-L4"})}), term({label(kProduct).in({"NVIDIA-H100-80GB-"
                                                                                 "HBM3"})})}),
       {"h100", "l4"}},
      {"one of several, or whatever is in a rack",
       pod("p").gpus(1).requires_nodes(
           {term({label(kProduct).in({"NVIDIA-L4"})}), term({label("rack").in({"b"})})}),
       all},
      {"all but one",
       pod("p").gpus(1).requires_nodes(
           {term({label(kProduct).exists(), label(kProduct).not_in({"NVIDIA-L4"})})}),
       {"a100", "h100", "l4-shared", "single"}},
      {"selectors that contradict each other",
       pod("p")
           .gpus(1)
           .selects(kProduct, "NVIDIA-L4")
           .requires_nodes({term({label(kProduct).in({"NVIDIA-A100-SXM4-80GB"})})}),
       {}},
      {"a class", pod("p").gpus(1).annotated(kType, "H100"), {"h100", "gke"}},
      {"classes and products",
       pod("p").gpus(1).annotated(kType, "L4, NVIDIA-A100-SXM4-80GB"),
       {"a100", "l4", "l4-shared", "single"}},
      {"a label's value",
       pod("p").gpus(1).annotated(kType, "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"),
       {"single"}},
      {"an annotation and a selector",
       pod("p").gpus(1).annotated(kType, "L4, H100").selects(kProduct, "NVIDIA-L4"),
       {"l4"}},
      {"a type that nobody has", pod("p").gpus(1).annotated(kType, "B200"), {}},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(allowed(c.asks) == c.want);
  }
}

TEST_CASE("an annotation that no plugin enforces says nothing") {
  CHECK(allowed(pod("p").gpus(1).annotated(kType, "H100"), false).size() == 8);
  CHECK(allowed(pod("p").gpus(1).annotated(kType, "H100").selects(kProduct, "NVIDIA-L4"), false) ==
        Names{"l4"});
}
