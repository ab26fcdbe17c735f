#include "tests/plugins/cluster.h"
#include "tests/plugins/labels.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

using tests::Answer;
using tests::kFits;
using tests::kMig;
using tests::kProfile;
using tests::make_plugin;
using tests::node;
using tests::OneNode;
using tests::our_pod;
using tests::pod;
using tests::unresolvable;

namespace {

constexpr const char* kUnnamed =
    "node(s) had MIG instances as nvidia.com/gpu, and the pod names no such profile";

// The strategy `single`.
tests::NodeBuilder partitioned(const std::string& profile) {
  return node("n").gpus(7).product("NVIDIA-A100-SXM4-40GB-MIG-" + profile);
}

}  // namespace

TEST_CASE("Where nvidia.com/gpu are MIG instances, only pods that name the profile get one") {
  struct Case {
    const char* name;
    k8s::Pod given;
    k8s::Node node;
    Answer want;
  };
  const k8s::Node whole = node("n").gpus(8).product("NVIDIA-A100-SXM4-40GB");
  const std::vector<Case> cases = {
      {"whole GPUs", pod("p").gpus(1), whole, kFits},
      {"no GPU", pod("p"), partitioned("1g.5gb"), kFits},
      {"not named", pod("p").gpus(1), partitioned("1g.5gb"), unresolvable({kUnnamed})},
      {"named by annotation", pod("p").gpus(1).annotated(kProfile, "1g.5gb"), partitioned("1g.5gb"),
       kFits},
      {"named by label", pod("p").gpus(1).labelled(kProfile, "1g.5gb"), partitioned("1g.5gb"),
       kFits},
      {"NVIDIA's spelling of a variant", pod("p").gpus(1).annotated(kProfile, "1g.5gb+me"),
       partitioned("1g.5gb.me"), kFits},
      {"named by the product's label",
       pod("p").gpus(1).selects("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"),
       partitioned("1g.5gb"), kFits},
      {"another profile", pod("p").gpus(1).annotated(kProfile, "1g.10gb"), partitioned("1g.5gb"),
       unresolvable({"node(s) had no MIG instances of 1g.10gb as nvidia.com/gpu"})},
      {"a profile, and the GPUs are whole", pod("p").gpus(1).annotated(kProfile, "1g.5gb"), whole,
       unresolvable({"node(s) had no MIG instances of 1g.5gb as nvidia.com/gpu"})},
      {"partitioned in a way that the plugin refuses", pod("p").gpus(1), partitioned("INVALID"),
       unresolvable({kUnnamed})},
      {"resources of the strategy mixed", pod("p").requests("nvidia.com/mig-1g.5gb", "1"), whole,
       kFits},
      {"a resource, and another profile",
       pod("p").requests("nvidia.com/mig-1g.5gb", "1").annotated(kProfile, "2g.10gb"), whole,
       unresolvable({"gpu-scheduler.io/mig-profile: 2g.10gb, but the pod asks for "
                     "nvidia.com/mig-1g.5gb"})},
      {"two resources, and one of them is the profile",
       pod("p")
           .requests("nvidia.com/mig-1g.5gb", "1")
           .requests("nvidia.com/mig-2g.10gb", "1")
           .annotated(kProfile, "2g.10gb"),
       whole, kFits},
      {"two resources, and another profile",
       pod("p")
           .requests("nvidia.com/mig-1g.5gb", "1")
           .requests("nvidia.com/mig-2g.10gb", "1")
           .annotated(kProfile, "3g.20gb"),
       whole,
       unresolvable({"gpu-scheduler.io/mig-profile: 3g.20gb, but the pod asks for "
                     "nvidia.com/mig-1g.5gb, nvidia.com/mig-2g.10gb"})},
      {"an instance, and a GPU that is of the profile",
       pod("p").gpus(1).requests("nvidia.com/mig-2g.10gb", "1").annotated(kProfile, "1g.5gb"),
       partitioned("1g.5gb"), kFits},
      {"an instance, and whole GPUs besides: not those of the strategy single",
       pod("p").gpus(1).requests("nvidia.com/mig-2g.10gb", "1"), partitioned("1g.5gb"),
       unresolvable({kUnnamed})},
      {"a typo", pod("p").gpus(1).annotated(kProfile, "one"), whole,
       unresolvable({"gpu-scheduler.io/mig-profile: \"one\" is not a MIG profile, such as "
                     "1g.10gb"})},
  };
  const auto made = make_plugin("MigFit");
  REQUIRE(made);
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(OneNode(each.node).ask(*made->filter, each.given) == each.want);
  }
  OneNode single(partitioned("1g.5gb"));
  CHECK(single.numbers(*made->filter, pod("p").gpus(1)) ==
        std::vector<std::string>{"7 of profile 1g.5gb of NVIDIA-A100-SXM4-40GB; annotation "
                                 "gpu-scheduler.io/mig-profile: 1g.5gb asks for one"});
  const k8s::Pod asks_for_another = pod("p").gpus(1).annotated(kProfile, "1g.10gb");
  CHECK(single.numbers(*made->filter, asks_for_another) ==
        std::vector<std::string>{"7 of profile 1g.5gb of NVIDIA-A100-SXM4-40GB"});
  CHECK(OneNode(whole).numbers(*made->filter, asks_for_another) ==
        std::vector<std::string>{"no MIG instances there"});
}

TEST_CASE("Who waits for more instances than a node's GPUs can hold is told so") {
  struct Case {
    const char* name;
    const char* asked;
    k8s::Node node;
    const char* want;
  };
  const auto one_gpu = [] {
    return node("n")
        .gpus(1)
        .product("NVIDIA-A100-SXM4-80GB")
        .labelled("nvidia.com/mig.strategy", "mixed");
  };
  const auto counted = [&] { return one_gpu().labelled("nvidia.com/gpu.count", "1"); };
  constexpr const char* kCould = "nvidia.com/mig-3g.40gb: 1 could hold it after a repartition (n).";
  const std::vector<Case> cases = {
      {"as many as it can hold", "2", counted(), kCould},
      {"more", "3", counted(),
       "nvidia.com/mig-3g.40gb: 1 never can (1 NVIDIA-A100-SXM4-80GB with too few GPUs)."},
      {"its GPUs are not counted", "3", one_gpu(), kCould},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    tests::Cluster cluster;
    cluster.has(each.node);
    CHECK_THAT(cluster.place(our_pod("p").requests(kMig, each.asked)), Catch::EndsWith(each.want));
  }
}

TEST_CASE("Of many nodes with the profile, or that could have it, the first few are named") {
  tests::Cluster cluster;
  const auto mixed = [](const std::string& name) {
    return node(name)
        .gpus(1)
        .product("NVIDIA-A100-SXM4-80GB")
        .labelled("nvidia.com/mig.strategy", "mixed");
  };
  for (const char* name : {"e", "d", "a", "c", "b"}) cluster.has(k8s::Node(mixed(name)));
  for (const char* name : {"g", "f"}) cluster.has(k8s::Node(mixed(name).gpus(0).offers(kMig, "1")));
  cluster.has(k8s::Node(mixed("h").gpus(0).offers(kMig, "9").cpu("1")));  // what it lacks is CPU
  cluster.has(k8s::Node(node("i").gpus(1)));
  CHECK_THAT(
      cluster.place(our_pod("p").cpu("4").requests(kMig, "2")),
      Catch::Contains("nvidia.com/mig-3g.40gb: 2 nodes have it, but not enough free (f, g); "
                      "5 could hold it after a repartition (a, b, c and 2 more); 1 never can "
                      "(1 GPUs that no label names)."));
}

TEST_CASE(
    "A node that is partitioned under single could be repartitioned, whatever its instances are") {
  tests::Cluster cluster;
  cluster.has(k8s::Node(partitioned("1g.5gb").labelled("nvidia.com/gpu.count", "1")));
  CHECK_THAT(cluster.place(our_pod("p").requests("nvidia.com/mig-3g.20gb", "3")),
             Catch::Contains("nvidia.com/mig-3g.20gb: 1 could after a repartition, and with "
                             "mig.strategy mixed (n)."));
}
