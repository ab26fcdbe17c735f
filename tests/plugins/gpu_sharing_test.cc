#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

using tests::Answer;
using tests::kFits;
using tests::make_plugin;
using tests::node;
using tests::OneNode;
using tests::pod;
using tests::unresolvable;

namespace {

constexpr const char* kSharing = "gpu-scheduler.io/sharing";
constexpr const char* kShared = "nvidia.com/gpu.shared";
const Answer kRefusesShared =
    unresolvable({"node(s) had shared GPUs, which the pod does not accept"});
const Answer kNotShared = unresolvable({"node(s) had no shared GPUs"});
const Answer kSeveralUnsaid =
    unresolvable({"node(s) had shared GPUs, of which several pieces are only for pods that say "
                  "gpu-scheduler.io/sharing: allowed"});
const Answer kOneOnly =
    unresolvable({"node(s) had shared GPUs, of which a pod may ask for one piece only"});

tests::NodeBuilder whole() { return node("n").gpus(2).product("NVIDIA-L4"); }
tests::NodeBuilder replicas() {
  return node("n")
      .gpus(8)
      .product("NVIDIA-L4-SHARED")
      .labelled("nvidia.com/gpu.replicas", "4")
      .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing");
}
tests::NodeBuilder mps() { return replicas().labelled("nvidia.com/gpu.sharing-strategy", "mps"); }
tests::NodeBuilder renamed_mps() {
  return node("n")
      .offers(kShared, "8")
      .product("NVIDIA-L4")
      .labelled("nvidia.com/gpu.replicas", "4")
      .labelled("nvidia.com/gpu.sharing-strategy", "mps");
}
tests::NodeBuilder gke(const char* strategy, const char* gpus) {
  return node("n")
      .gpus(8)
      .labelled("cloud.google.com/gke-accelerator", "nvidia-l4")
      .labelled("cloud.google.com/gke-accelerator-count", gpus)
      .labelled("cloud.google.com/gke-gpu-sharing-strategy", strategy)
      .labelled("cloud.google.com/gke-max-shared-clients-per-gpu", "4");
}
constexpr const char* kMig = "nvidia.com/mig-1g.5gb";
tests::NodeBuilder mixed() {
  return node("n")
      .offers(kMig, "14")
      .product("NVIDIA-A100-SXM4-40GB")
      .labelled("nvidia.com/mig.strategy", "mixed");
}
// Replicas of instances, under the instances' name.
tests::NodeBuilder mixed_replicas() {
  return mixed().labelled("nvidia.com/mig-1g.5gb.replicas", "2");
}
// Two containers of one piece each, which the device plugin sees one at a time.
tests::PodBuilder pair(const char* resource) {
  return pod("p").requests(resource, "1").with(tests::container("b", {{resource, "1"}}));
}
tests::PodBuilder wants(const char* sharing, std::int64_t gpus = 1) {
  return pod("p").gpus(gpus).annotated(kSharing, sharing);
}

}  // namespace

TEST_CASE("GpuSharing gives pieces of shared GPUs to those who take them") {
  struct Case {
    const char* name;
    const char* args;
    k8s::Pod given;
    k8s::Node node;
    Answer want;
  };
  constexpr const char* kOne = "failRequestsGreaterThanOne: true";
  const std::vector<Case> cases = {
      {"says nothing, whole", "", pod("p").gpus(1), whole(), kFits},
      {"says nothing, shared", "", pod("p").gpus(1), replicas(), kFits},
      {"allowed, shared", "", wants("allowed"), replicas(), kFits},
      {"never, whole", "", wants("never"), whole(), kFits},
      {"never, shared", "", wants("never"), replicas(), kRefusesShared},
      {"required, whole", "", wants("required"), whole(), kNotShared},
      {"required, shared", "", wants("required"), replicas(), kFits},
      {"by default never", "defaultSharing: never", pod("p").gpus(1), replicas(), kRefusesShared},
      {"by default never, but it says allowed", "defaultSharing: never", wants("allowed"),
       replicas(), kFits},
      {"by default required", "defaultSharing: required", pod("p").gpus(1), whole(), kNotShared},
      {"several pieces, and says nothing", "", pod("p").gpus(2), replicas(), kSeveralUnsaid},
      {"several pieces, allowed", "", wants("allowed", 2), replicas(), kFits},
      {"several pieces, required", "", wants("required", 2), replicas(), kFits},
      {"several pieces, by default required", "defaultSharing: required", pod("p").gpus(2),
       replicas(), kFits},
      {"several GPUs on a node that shares them and does not say so", "", pod("p").gpus(8),
       node("n").gpus(8).product("NVIDIA-L4").labelled("nvidia.com/gpu.count", "1"),
       kSeveralUnsaid},
      {"never, on a node that shares them and does not say so", "", wants("never"),
       node("n").gpus(80).labelled("nvidia.com/gpu.count", "8"), kRefusesShared},
      {"several of GKE's time-sharing, allowed", "", wants("allowed", 2), gke("time-sharing", "2"),
       kOneOnly},
      {"the same of a single GPU", "", wants("allowed", 2),
       gke("time-sharing", "1").labelled("cloud.google.com/gke-max-shared-clients-per-gpu", "8"),
       kOneOnly},
      {"one of GKE's time-sharing", "", pod("p").gpus(1), gke("time-sharing", "2"), kFits},
      {"one for each container of it", "", pair("nvidia.com/gpu"), gke("time-sharing", "2"), kFits},
      {"several of GKE's MPS", "", wants("allowed", 2), gke("mps", "2"), kOneOnly},
      {"several of GKE's MPS on a single GPU", "", wants("allowed", 2),
       gke("mps", "1").labelled("cloud.google.com/gke-max-shared-clients-per-gpu", "8"), kFits},
      {"several of GKE's where the plugin is said to serve them",
       "failRequestsGreaterThanOne: false", wants("allowed", 2), gke("time-sharing", "2"), kFits},
      {"several pieces where the plugin fails them", kOne, pod("p").gpus(2), replicas(), kOneOnly},
      {"several pieces of MPS, which fails them unsaid", "", pod("p").gpus(2), mps(), kOneOnly},
      {"one piece of MPS", "", pod("p").gpus(1), mps(), kFits},
      {"one piece of MPS for each container", "", pair("nvidia.com/gpu"), mps(), kFits},
      {"one piece for each container", kOne, pair("nvidia.com/gpu"), replicas(), kFits},
      {"several pieces of MPS that serves them", "failRequestsGreaterThanOne: false",
       wants("allowed", 2), mps(), kFits},
      {"by name, several of MPS", "", pod("p").requests(kShared, "2"), renamed_mps(), kOneOnly},
      {"several pieces of MPS where the plugin fails them", kOne, pod("p").gpus(2), mps(),
       kOneOnly},
      {"by name, several by time-slicing, which serves them", "", pod("p").requests(kShared, "2"),
       renamed_mps().labelled("nvidia.com/gpu.sharing-strategy", "time-slicing"), kFits},
      {"by name, one of MPS for each container", "", pair(kShared), renamed_mps(), kFits},
      {"by name, one for each container", kOne, pair(kShared), renamed_mps(), kFits},
      {"one piece there", kOne, pod("p").gpus(1), replicas(), kFits},
      {"several whole GPUs there", kOne, pod("p").gpus(2), whole(), kFits},
      {"by name", "defaultSharing: never", pod("p").requests(kShared, "1"), replicas(), kFits},
      {"by name, several", kOne, pod("p").requests(kShared, "2"), replicas(),
       unresolvable(
           {"asks for 2 nvidia.com/gpu.shared: a pod may ask for one piece of a shared GPU "
            "only"})},
      {"by name, and never", "", pod("p").requests(kShared, "1").annotated(kSharing, "never"),
       replicas(),
       unresolvable(
           {"gpu-scheduler.io/sharing: never, but the pod asks for nvidia.com/gpu.shared"})},
      {"replicas of instances, and never", "",
       pod("p").requests("nvidia.com/mig-1g.5gb.shared", "1").annotated(kSharing, "never"),
       replicas(),
       unresolvable({"gpu-scheduler.io/sharing: never, but the pod asks for "
                     "nvidia.com/mig-1g.5gb.shared"})},
      {"an instance, and never", "", pod("p").requests(kMig, "1").annotated(kSharing, "never"),
       mixed(), kFits},
      {"replicas under the instances' name, and never", "",
       pod("p").requests(kMig, "1").annotated(kSharing, "never"), mixed_replicas(), kRefusesShared},
      {"the same by a strategy", "", pod("p").requests(kMig, "1").annotated(kSharing, "never"),
       mixed().labelled("nvidia.com/mig-1g.5gb.sharing-strategy", "time-slicing"), kRefusesShared},
      {"the same by default", "defaultSharing: never", pod("p").requests(kMig, "1"),
       mixed_replicas(), kRefusesShared},
      {"more instances than its GPUs can hold, and never", "",
       pod("p").requests(kMig, "1").annotated(kSharing, "never"),
       mixed().labelled("nvidia.com/gpu.count", "1"), kRefusesShared},
      {"replicas of another profile, and never", "",
       pod("p").requests(kMig, "1").annotated(kSharing, "never"),
       mixed().labelled("nvidia.com/mig-2g.10gb.replicas", "2"), kFits},
      {"a replica under the instances' name", "", pod("p").requests(kMig, "1"), mixed_replicas(),
       kFits},
      {"several of them, and says nothing", "", pod("p").requests(kMig, "2"), mixed_replicas(),
       kSeveralUnsaid},
      {"several of them, allowed", "", pod("p").requests(kMig, "2").annotated(kSharing, "allowed"),
       mixed_replicas(), kFits},
      {"several of them where the plugin fails them", kOne,
       pod("p").requests(kMig, "2").annotated(kSharing, "allowed"), mixed_replicas(), kOneOnly},
      {"several instances", "", pod("p").requests(kMig, "2"), mixed(), kFits},
      {"an instance, by default required", "defaultSharing: required", pod("p").requests(kMig, "1"),
       mixed(), kFits},
      {"an instance, and required", "",
       pod("p").requests(kMig, "1").annotated(kSharing, "required"), mixed(), kNotShared},
      {"no GPU", "", pod("p").annotated(kSharing, "never"), replicas(), kFits},
      {"a typo", "", wants("maybe"), whole(),
       unresolvable({"gpu-scheduler.io/sharing: \"maybe\" is none of allowed, required, never"})},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const auto made = make_plugin("GpuSharing", each.args);
    REQUIRE(made);
    CHECK(OneNode(each.node).ask(*made->filter, each.given) == each.want);
  }
  const auto made = make_plugin("GpuSharing");
  REQUIRE(made);
  CHECK(OneNode(replicas()).numbers(*made->filter, wants("never")) ==
        std::vector<std::string>{"time-slicing, 4 pieces to a GPU"});
  CHECK(OneNode(whole()).numbers(*made->filter, wants("required")) ==
        std::vector<std::string>{"2 GPUs, not shared"});
  CHECK(OneNode(replicas()).numbers(*made->filter, pod("p").gpus(2)) ==
        std::vector<std::string>{"time-slicing, 4 pieces to a GPU"});
  CHECK(OneNode(mixed_replicas())
            .numbers(*made->filter, pod("p").requests(kMig, "1").annotated(kSharing, "never")) ==
        std::vector<std::string>{"nvidia.com/mig-1g.5gb: instances shared"});
  CHECK(OneNode(mixed()).numbers(*made->filter,
                                 pod("p").requests(kMig, "1").annotated(kSharing, "required")) ==
        std::vector<std::string>{"nvidia.com/mig-1g.5gb: instances not shared"});
  CHECK_FALSE(make_plugin("GpuSharing", "defaultSharing: sometimes"));
}

TEST_CASE("Pieces of shared GPUs are packed or spread, and a GPU of one's own is more") {
  struct Case {
    const char* name;
    const char* args;
    k8s::Pod given;
    k8s::Node node;
    std::vector<k8s::Pod> on_node;
    std::int64_t want;
  };
  const std::vector<Case> cases = {
      {"packed, empty", "", pod("p").gpus(1), replicas(), {}, 12},
      {"packed, half full", "", pod("p").gpus(1), replicas(), {pod("b").gpus(3)}, 50},
      {"spread, half full",
       "placement: spread",
       pod("p").gpus(1),
       replicas(),
       {pod("b").gpus(3)},
       50},
      {"spread, empty", "placement: spread", pod("p").gpus(1), replicas(), {}, 88},
      {"under their own name",
       "",
       pod("p").requests(kShared, "1"),
       node("n").offers(kShared, "4"),
       {pod("b").requests(kShared, "1")},
       50},
      {"replicas of instances",
       "",
       pod("p").requests("nvidia.com/mig-1g.5gb.shared", "1"),
       node("n").offers("nvidia.com/mig-1g.5gb.shared", "4"),
       {},
       25},
      {"a GPU of its own", "", pod("p").gpus(1), whole(), {}, 200},
      {"who can do with less gets less", "", wants("allowed"), whole(), {}, 0},
      {"and a replica is more for it", "", wants("allowed"), replicas(), {pod("b").gpus(3)}, 150},
      {"no GPU", "", pod("p"), whole(), {}, -1},
      {"an instance of its own", "", pod("p").requests(kMig, "1"), mixed(), {}, 200},
      {"replicas under the instances' name",
       "",
       pod("p").requests(kMig, "1"),
       mixed_replicas(),
       {pod("b").requests(kMig, "6")},
       50},
      {"who can do with less gets less of an instance",
       "",
       pod("p").requests(kMig, "1").annotated(kSharing, "allowed"),
       mixed(),
       {},
       0},
      {"and a replica of one is more for it",
       "",
       pod("p").requests(kMig, "1").annotated(kSharing, "allowed"),
       mixed_replicas(),
       {pod("b").requests(kMig, "6")},
       150},
      {"no GPU and no instance", "", pod("p").requests("amd.com/gpu", "1"), whole(), {}, -1},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const auto made = make_plugin("GpuSharing", each.args);
    REQUIRE(made);
    CHECK(OneNode(each.node, each.on_node).score(*made->score, each.given) == each.want);
    CHECK(each.want <= made->score->max_score());
  }
}
