#include "tests/plugins/labels.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

using tests::Answer;
using tests::kFits;
using tests::kShared;
using tests::kSharing;
using tests::make_plugin;
using tests::node;
using tests::OneNode;
using tests::pod;
using tests::unresolvable;

namespace {

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
constexpr const char* kSmallestMig = "nvidia.com/mig-1g.5gb";
tests::NodeBuilder mixed() {
  return node("n")
      .offers(kSmallestMig, "14")
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
      {"the same while one of its GPUs is not healthy", "", wants("never"),
       node("n").gpus(70).labelled("nvidia.com/gpu.count", "8").capacity("nvidia.com/gpu", "80"),
       kRefusesShared},
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
      {"an instance, and never", "",
       pod("p").requests(kSmallestMig, "1").annotated(kSharing, "never"), mixed(), kFits},
      {"replicas under the instances' name, and never", "",
       pod("p").requests(kSmallestMig, "1").annotated(kSharing, "never"), mixed_replicas(),
       kRefusesShared},
      {"the same by a strategy", "",
       pod("p").requests(kSmallestMig, "1").annotated(kSharing, "never"),
       mixed().labelled("nvidia.com/mig-1g.5gb.sharing-strategy", "time-slicing"), kRefusesShared},
      {"the same by default", "defaultSharing: never", pod("p").requests(kSmallestMig, "1"),
       mixed_replicas(), kRefusesShared},
      {"more instances than its GPUs can hold, and never", "",
       pod("p").requests(kSmallestMig, "1").annotated(kSharing, "never"),
       mixed().labelled("nvidia.com/gpu.count", "1"), kRefusesShared},
      {"replicas of another profile, and never", "",
       pod("p").requests(kSmallestMig, "1").annotated(kSharing, "never"),
       mixed().labelled("nvidia.com/mig-2g.10gb.replicas", "2"), kFits},
      {"a replica under the instances' name", "", pod("p").requests(kSmallestMig, "1"),
       mixed_replicas(), kFits},
      {"several of them, and says nothing", "", pod("p").requests(kSmallestMig, "2"),
       mixed_replicas(), kSeveralUnsaid},
      {"several of them, allowed", "",
       pod("p").requests(kSmallestMig, "2").annotated(kSharing, "allowed"), mixed_replicas(),
       kFits},
      {"several of them where the plugin fails them", kOne,
       pod("p").requests(kSmallestMig, "2").annotated(kSharing, "allowed"), mixed_replicas(),
       kOneOnly},
      {"several instances", "", pod("p").requests(kSmallestMig, "2"), mixed(), kFits},
      {"an instance, by default required", "defaultSharing: required",
       pod("p").requests(kSmallestMig, "1"), mixed(), kFits},
      {"an instance, and required", "",
       pod("p").requests(kSmallestMig, "1").annotated(kSharing, "required"), mixed(), kNotShared},
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
            .numbers(*made->filter,
                     pod("p").requests(kSmallestMig, "1").annotated(kSharing, "never")) ==
        std::vector<std::string>{"nvidia.com/mig-1g.5gb: instances shared"});
  CHECK(OneNode(mixed()).numbers(
            *made->filter, pod("p").requests(kSmallestMig, "1").annotated(kSharing, "required")) ==
        std::vector<std::string>{"nvidia.com/mig-1g.5gb: instances not shared"});
  // Of GPUs and instances together that is told which is the reason.
  const k8s::Pod both = wants("never").requests(kSmallestMig, "1");
  CHECK(OneNode(mixed_replicas().gpus(1)).numbers(*made->filter, both) ==
        std::vector<std::string>{"nvidia.com/mig-1g.5gb: instances shared"});
  CHECK(OneNode(replicas().offers(kSmallestMig, "1")).numbers(*made->filter, both) ==
        std::vector<std::string>{"time-slicing, 4 pieces to a GPU"});
  for (const char* args : {"defaultSharing: sometimes", "placement: anywhere",
                           "failRequestsGreaterThanOne: 1", "kind: GpuTypeArgs", "spread: true"}) {
    INFO(args);
    CHECK_FALSE(make_plugin("GpuSharing", args));
  }
  CHECK(make_plugin("GpuSharing", "{kind: GpuSharingArgs, defaultSharing: allowed}"));
}

TEST_CASE("Pods that say so take no more of their GPUs' memory than there is") {
  const auto with_memory = [](const tests::NodeBuilder& of) {
    return tests::NodeBuilder(of).labelled("nvidia.com/gpu.memory", "20480");  // 20 GiB
  };
  const auto takes = [](const char* memory, std::int64_t gpus = 1) {
    return wants("allowed", gpus).annotated("gpu-scheduler.io/gpu-memory", memory);
  };
  const auto too_small = [](const char* memory) {
    return unresolvable({std::string("node(s) had no GPU with ") + memory + " of memory"});
  };
  const auto too_full = [](const char* memory) {
    return tests::unschedulable(
        {std::string("node(s) had shared GPUs with less than ") + memory + " of memory left"});
  };
  const k8s::Node two_gpus = with_memory(replicas());  // 40 GiB in all
  const k8s::Pod of_15 = takes("15Gi").on("n");
  const k8s::Pod of_two_by_name =
      pod("y").requests(kShared, "2").annotated("gpu-scheduler.io/gpu-memory", "10Gi").on("n");
  struct Case {
    const char* name;
    k8s::Pod given;
    k8s::Node node;
    std::vector<k8s::Pod> there;
    Answer want;
  };
  const std::vector<Case> cases = {
      {"as much as a GPU has", takes("20Gi"), two_gpus, {}, kFits},
      {"more than a GPU has, though not than all", takes("21Gi"), two_gpus, {}, too_small("21Gi")},
      {"what is left", takes("10Gi"), two_gpus, {of_15, of_15}, kFits},
      {"more than is left", takes("11Gi"), two_gpus, {of_15, of_15}, too_full("11Gi")},
      {"what each piece takes, together",
       takes("6Gi", 2),
       two_gpus,
       {of_15, of_15},
       too_full("12Gi")},
      {"pieces under their own name",
       takes("11Gi"),
       two_gpus,
       {of_two_by_name, of_15},
       too_full("11Gi")},
      {"nothing said", wants("allowed"), two_gpus, {of_15, of_15, of_15}, kFits},
      {"beside those who say nothing",
       takes("20Gi"),
       two_gpus,
       {pod("z").gpus(4).on("n").annotated(kSharing, "allowed")},
       kFits},
      {"the sharing is not known",
       takes("11Gi"),
       with_memory(node("n").gpus(80).labelled("nvidia.com/gpu.count", "2")),
       {of_15, of_15},
       too_full("11Gi")},
      {"by their name alone",
       takes("11Gi"),
       with_memory(node("n").offers(kShared, "80").labelled("nvidia.com/gpu.count", "2")),
       {of_15, of_15},
       too_full("11Gi")},
      {"nobody knows how many share a GPU: all may be on one",
       takes("6Gi"),
       with_memory(node("n").gpus(10).product("NVIDIA-L4-SHARED")),
       {of_15},
       too_full("6Gi")},
      {"the same, and it fits",
       takes("5Gi"),
       with_memory(node("n").gpus(10).product("NVIDIA-L4-SHARED")),
       {of_15},
       kFits},
      {"the same where a label counts the GPUs",
       takes("11Gi"),
       with_memory(node("n").offers(kShared, "7").labelled("nvidia.com/gpu.count", "2")),
       {of_15, of_15},
       too_full("11Gi")},
      {"more pieces than labels say: the number to a GPU is old",
       takes("11Gi"),
       with_memory(replicas().gpus(16).labelled("nvidia.com/gpu.count", "2")),
       {of_15, of_15},
       too_full("11Gi")},
      {"GKE counts GPUs that are partitioned, not instances",
       takes("5Gi"),
       node("n")
           .gpus(28)
           .labelled("cloud.google.com/gke-accelerator", "nvidia-tesla-a100")
           .labelled("cloud.google.com/gke-accelerator-count", "1")
           .labelled("cloud.google.com/gke-gpu-partition-size", "1g.5gb")
           .labelled("cloud.google.com/gke-gpu-sharing-strategy", "time-sharing")
           .labelled("cloud.google.com/gke-max-shared-clients-per-gpu", "4"),
       {takes("5Gi").on("n"), takes("5Gi").on("n")},
       kFits},
      {"a GPU of its own", takes("20Gi", 2), with_memory(whole()), {}, kFits},
      {"a GPU of its own that is too small",
       takes("21Gi"),
       with_memory(whole()),
       {},
       too_small("21Gi")},
      {"a part of MPS", takes("5Gi"), with_memory(mps()), {of_15, of_15, of_15}, kFits},
      {"more than the part", takes("6Gi"), with_memory(mps()), {}, too_small("6Gi")},
      {"memory that is not known",
       takes("1Gi"),
       node("n").gpus(8).labelled("nvidia.com/gpu.count", "2"),
       {},
       too_small("1Gi")},
      {"no GPU",
       pod("p").annotated("gpu-scheduler.io/gpu-memory", "1Gi"),
       two_gpus,
       {},
       unresolvable({"gpu-scheduler.io/gpu-memory: the pod asks for no nvidia.com/gpu"})},
      {"a typo",
       takes("half"),
       two_gpus,
       {},
       unresolvable({"gpu-scheduler.io/gpu-memory: \"half\" is not an amount of memory, such as "
                     "40Gi"})},
      {"so much that the sum is past all numbers",
       takes("8Ei", 8),
       two_gpus,
       {},
       too_small("8589934592.0Gi")},
  };
  const auto made = make_plugin("GpuSharing");
  REQUIRE(made);
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(OneNode(each.node, each.there).ask(*made->filter, each.given) == each.want);
  }
  CHECK(OneNode(two_gpus, {of_15, of_15}).numbers(*made->filter, takes("11Gi")) ==
        std::vector<std::string>{"10Gi of 40Gi left"});
  CHECK(OneNode(two_gpus).numbers(*made->filter, takes("21Gi")) ==
        std::vector<std::string>{"20Gi"});
  CHECK(OneNode(two_gpus, {of_15, of_15, of_15}).numbers(*made->filter, takes("1Gi")) ==
        std::vector<std::string>{"0Gi of 40Gi left"});
  CHECK(OneNode(node("n").gpus(1)).numbers(*made->filter, takes("1Gi")) ==
        std::vector<std::string>{"memory not known"});
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
      {"an instance of its own", "", pod("p").requests(kSmallestMig, "1"), mixed(), {}, 200},
      {"replicas under the instances' name",
       "",
       pod("p").requests(kSmallestMig, "1"),
       mixed_replicas(),
       {pod("b").requests(kSmallestMig, "6")},
       50},
      {"who can do with less gets less of an instance",
       "",
       pod("p").requests(kSmallestMig, "1").annotated(kSharing, "allowed"),
       mixed(),
       {},
       0},
      {"and a replica of one is more for it",
       "",
       pod("p").requests(kSmallestMig, "1").annotated(kSharing, "allowed"),
       mixed_replicas(),
       {pod("b").requests(kSmallestMig, "6")},
       150},
      {"no GPU and no instance", "", pod("p").requests("amd.com/gpu", "1"), whole(), {}, -1},
      {"no piece there", "", pod("p").gpus(1), replicas().gpus(0), {}, 0},
      {"more than there are", "", pod("p").gpus(3), replicas(), {pod("b").gpus(6)}, 100},
      {"more than there are, spread",
       "placement: spread",
       pod("p").gpus(3),
       replicas(),
       {pod("b").gpus(6)},
       0},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const auto made = make_plugin("GpuSharing", each.args);
    REQUIRE(made);
    CHECK(OneNode(each.node, each.on_node).score(*made->score, each.given) == each.want);
    CHECK(made->score->max_score() == 200);
  }
}
