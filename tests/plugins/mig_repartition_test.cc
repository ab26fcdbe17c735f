// Advice about MIG configurations under the default profile: beside MigFit, GpuType and the others,
// for nodes of the strategies mixed and single.
#include "tests/plugins/cluster.h"
#include "tests/plugins/labels.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <string>
#include <variant>
#include <vector>

using namespace sched;
using namespace std::chrono_literals;
using tests::Cluster;
using tests::kMinMemory;
using tests::kProfile;
using tests::kType;
using tests::NodeBuilder;
using tests::our_pod;
using tests::PodBuilder;

namespace {

constexpr const char* kProduct = "nvidia.com/gpu.product";

NodeBuilder h100(std::string_view name, const char* strategy, int gpus = 1) {
  return tests::node(name)
      .product("NVIDIA-H100-80GB-HBM3")
      .labelled("nvidia.com/gpu.count", std::to_string(gpus))
      .labelled("nvidia.com/gpu.memory", "81559")
      .labelled("nvidia.com/mig.strategy", strategy)
      .labelled("nvidia.com/mig.config", "all-disabled")
      .labelled("nvidia.com/mig.config.state", "success")
      .gpus(gpus);
}

// All GPUs partitioned alike, under the strategy single.
NodeBuilder partitioned(std::string_view name, const std::string& profile, int instances) {
  return h100(name, "single", instances)
      .product("NVIDIA-H100-80GB-HBM3-MIG-" + profile)
      .labelled("nvidia.com/gpu.memory", "9984")
      .labelled("nvidia.com/mig.config", "all-" + profile);
}

PodBuilder mixed_pod(std::string_view name, const char* profile = "3g.40gb") {
  return our_pod(name).requests(std::string("nvidia.com/mig-") + profile, "1");
}
PodBuilder single_pod(std::string_view name, const char* profile = "3g.40gb") {
  return our_pod(name).gpus(1).annotated(kProfile, profile);
}

// "n should become all-3g.40gb for 2 pods".
std::vector<std::string> advised(Cluster& cluster) {
  std::vector<std::string> advice;
  for (const Decision& decision : cluster.decide()) {
    const auto* each = std::get_if<decision::MigRepartition>(&decision);
    if (each == nullptr) continue;
    advice.push_back(each->node + " should become " + each->to + " for " +
                     std::to_string(each->pods.size()) + " pods");
  }
  return advice;
}

using Advice = std::vector<std::string>;

}  // namespace

TEST_CASE("Advice is what all filters of the profile say of the node as it would be") {
  struct Case {
    const char* name;
    k8s::Node node;
    k8s::Pod pod;
    Advice want;
  };
  const Advice kToLarge = {"n should become all-3g.40gb for 1 pods"};
  const std::vector<Case> cases = {
      {"mixed", h100("n", "mixed"), mixed_pod("a"), kToLarge},
      {"mixed, and the instance has the memory", h100("n", "mixed"),
       mixed_pod("a").annotated(kMinMemory, "40Gi"), kToLarge},
      {"mixed, and it has not",
       h100("n", "mixed"),
       mixed_pod("a").annotated(kMinMemory, "41Gi"),
       {}},
      {"mixed, and the type is another",
       h100("n", "mixed"),
       mixed_pod("a").annotated(kType, "A100"),
       {}},
      {"mixed, and nvidia.com/gpu is asked for", h100("n", "mixed"), single_pod("a"), {}},
      {"single", h100("n", "single"), single_pod("a"), kToLarge},
      {"single, by the product's label", h100("n", "single"),
       our_pod("a").gpus(1).selects(kProduct, "NVIDIA-H100-80GB-HBM3-MIG-3g.40gb"), kToLarge},
      {"single, and the memory is that of an instance",
       h100("n", "single"),
       single_pod("a").annotated(kMinMemory, "41Gi"),
       {}},
      {"single, and the pod names a resource of mixed", h100("n", "single"), mixed_pod("a"), {}},
      {"single, and the pod wants a whole GPU",
       h100("n", "single").cpu("1"),
       our_pod("a").gpus(1).cpu("4"),
       {}},
      {"single, partitioned in another way", partitioned("n", "1g.10gb", 14), single_pod("a"),
       kToLarge},
      {"single, partitioned like that already, and full elsewhere",
       partitioned("n", "3g.40gb", 2).gpus(0),
       single_pod("a"),
       {}},
      {"single, partitioned by a name of the site's own: how many GPUs it has is not known",
       partitioned("n", "1g.10gb", 14).labelled("nvidia.com/mig.config", "our-own"),
       single_pod("a"),
       {}},
      {"single, and labels that do not go together",
       partitioned("n", "1g.10gb", 13),
       single_pod("a"),
       {}},
      {"shared GPUs: what would be made of them is not known",
       h100("n", "mixed").labelled("nvidia.com/gpu.sharing-strategy", "time-slicing"),
       mixed_pod("a"),
       {}},
      {"shared instances",
       h100("n", "mixed").labelled("nvidia.com/mig-1g.10gb.replicas", "2"),
       mixed_pod("a"),
       {}},
      {"several profiles in one pod",
       h100("n", "mixed"),
       mixed_pod("a").requests("nvidia.com/mig-1g.10gb", "2"),
       {"n should become all-balanced for 1 pods"}},
      {"several profiles that no known configuration has",
       h100("n", "mixed"),
       mixed_pod("a").requests("nvidia.com/mig-4g.40gb", "1"),
       {}}};
  for (const Case& each : cases) {
    INFO(each.name);
    Cluster cluster;
    cluster.has(each.node);
    cluster.has(each.pod);
    CHECK(advised(cluster) == each.want);
  }
}

TEST_CASE(
    "Under the strategy single all GPUs are partitioned alike, and count as many pods as they "
    "hold") {
  Cluster cluster;
  cluster.has(h100("n", "single", 2));
  for (const char* name : {"a", "b", "c", "d", "e"}) cluster.has(single_pod(name));
  cluster.has(single_pod("f", "1g.10gb"));
  CHECK(advised(cluster) == Advice{"n should become all-3g.40gb for 4 pods"});
  cluster.has(partitioned("n", "3g.40gb", 4));
  cluster.wait(10s);
  CHECK(advised(cluster).empty());  // it carries pods now
}
