#include "scheduler/engine/backoffs/rejected_pod.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <map>
#include <string>

using namespace sched;
using namespace tests;

namespace {

constexpr Time kCreated{std::chrono::seconds{1'000}};
constexpr Time kStarted{std::chrono::seconds{1'060}};

PodBuilder rejected(std::string_view reason) {
  return pod("a").gpus(1).created_at(kCreated).on("n").started_at(kStarted).failed(reason);
}

}  // namespace

TEST_CASE("which failed pods speak against their node") {
  struct Case {
    const char* name;
    k8s::Pod pod;
    bool want;
  };
  const std::vector<Case> cases = {
      {"a device plugin would not", rejected("UnexpectedAdmissionError"), true},
      {"less there than thought", rejected("OutOfnvidia.com/gpu"), true},
      {"too few CPUs for a GPU pod", rejected("OutOfcpu"), true},
      {"too few CPUs for a pod without", pod("a").cpu("1").on("n").failed("OutOfcpu"), false},
      {"an init container with a device",
       pod("a")
           .first_runs(container("i", {{"nvidia.com/mig-1g.10gb", "1"}}))
           .on("n")
           .failed("UnexpectedAdmissionError"),
       true},
      {"one share",
       pod("a").requests("nvidia.com/gpu.shared", "1").on("n").failed("UnexpectedAdmissionError"),
       true},
      {"two shares, which the plugin may refuse by rule",
       pod("a").requests("nvidia.com/gpu.shared", "2").on("n").failed("UnexpectedAdmissionError"),
       false},
      {"CPUs and devices that cannot be aligned", rejected("TopologyAffinityError"), true},
      {"CPUs alone", pod("a").cpu("4").on("n").failed("TopologyAffinityError"), true},
      {"no device, by its word",
       pod("a").requests("nvidia.com/gpu", "0").on("n").failed("UnexpectedAdmissionError"), false},
      {"evicted", rejected("Evicted"), false},
      {"its program failed", rejected(""), false},
      {"affinity", rejected("NodeAffinity"), false},
      {"no node", pod("a").gpus(1).failed("UnexpectedAdmissionError"), false},
      {"not failed", rejected("UnexpectedAdmissionError").phase(k8s::PodPhase::kRunning), false}};
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(rejection_of(each.pod).has_value() == each.want);
  }
}

TEST_CASE("a device may be asked for by a request alone") {
  k8s::Pod pod = rejected("UnexpectedAdmissionError");
  pod.spec.containers.front().limits = {};
  const auto rejection = rejection_of(pod);
  REQUIRE(rejection);
  CHECK(rejection->devices == std::map<std::string, std::int64_t>{{"nvidia.com/gpu", 1}});
}

TEST_CASE("a rejection says what one container asked for of each device") {
  const auto rejection =
      rejection_of(rejected("UnexpectedAdmissionError")
                       .with(container("b", {{"nvidia.com/gpu", "2"}, {"rdma/hca", "1"}}))
                       .first_runs(container("i", {{"cpu", "4"}})));
  REQUIRE(rejection);
  CHECK(rejection->devices ==
        std::map<std::string, std::int64_t>{{"nvidia.com/gpu", 2}, {"rdma/hca", 1}});
}

TEST_CASE("which rejections speak of the pod and not of its node") {
  gpu::Inventory whole;
  whole.gpus = 8;
  gpu::Inventory shared = whole;
  shared.sharing = gpu::Sharing::kMps;
  gpu::Inventory partitioned;
  partitioned.instances = {{.profile = "1g.10gb"}, {.profile = "2g.20gb", .shared = true}};
  struct Case {
    const char* name;
    const char* device;
    std::int64_t asked;
    const gpu::Inventory* node;
    bool want;
  };
  for (const Case& each :
       {Case{"several pieces of shared GPUs", "nvidia.com/gpu", 2, &shared, true},
        Case{"one", "nvidia.com/gpu", 1, &shared, false},
        Case{"several GPUs", "nvidia.com/gpu", 2, &whole, false},
        Case{"several, and who knows of what", "nvidia.com/gpu", 2, nullptr, true},
        Case{"several replicas of instances", "nvidia.com/mig-2g.20gb", 2, &partitioned, true},
        Case{"one replica", "nvidia.com/mig-2g.20gb", 1, &partitioned, false},
        Case{"several instances", "nvidia.com/mig-1g.10gb", 2, &partitioned, false},
        Case{"several, and who knows whether of one", "nvidia.com/mig-1g.10gb", 2, nullptr, true},
        Case{"another device there", "rdma/hca", 2, &shared, false}}) {
    INFO(each.name);
    const event::PodRejected rejection{.pod = {},
                                       .node = "n",
                                       .reason = "UnexpectedAdmissionError",
                                       .at = {},
                                       .devices = {{each.device, each.asked}}};
    CHECK(is_by_rule(rejection, each.node) == each.want);
  }
}

TEST_CASE("whether a node had what a rejected pod asked for") {
  ResourceNames names;
  const ResourceId gpus = names.intern("nvidia.com/gpu");
  NodeFacts node;
  node.allocatable.add(gpus, 8);
  node.allocatable.add(kPods, 2);
  Claim six;
  six.requests = {{gpus, 6}};
  using Asked = std::map<std::string, std::int64_t>;
  struct Case {
    const char* name;
    Asked asked;
    int pods;          // on the node, of which one has six GPUs
    const Claim* own;  // which that pod's is, if it was the one that was rejected
    bool want;
  };
  for (const Case& each :
       {Case{"what is left", {{"nvidia.com/gpu", 2}}, 1, nullptr, true},
        Case{"more than is left", {{"nvidia.com/gpu", 3}}, 1, nullptr, false},
        Case{"what it has itself, and what is left", {{"nvidia.com/gpu", 8}}, 1, &six, true},
        Case{"more than that", {{"nvidia.com/gpu", 9}}, 1, &six, false},
        Case{"a place, where there is none", {{"nvidia.com/gpu", 1}}, 2, nullptr, false},
        Case{"the place that it has", {{"nvidia.com/gpu", 6}}, 2, &six, true},
        Case{"a device that nobody knows", {{"nvidia.com/gpu", 1}, {"a/b", 1}}, 1, nullptr, false},
        Case{"none of it", {{"nvidia.com/gpu", 1}, {"a/b", 0}}, 1, nullptr, true},
        Case{"what was not recorded", {}, 2, nullptr, true}}) {
    INFO(each.name);
    NodeUsage usage;
    usage.requested.add(gpus, 6);
    usage.requested.add(kPods, each.pods);
    const event::PodRejected rejection{.pod = {},
                                       .node = "n",
                                       .reason = "UnexpectedAdmissionError",
                                       .at = {},
                                       .devices = {},
                                       .requests = each.asked};
    CHECK(had_room(rejection, {node, usage}, each.own, names) == each.want);
  }
}

TEST_CASE("a rejection is dated by the kubelet, else by the pod's creation") {
  const auto rejection = rejection_of(rejected("OutOfnvidia.com/gpu"));
  REQUIRE(rejection);
  CHECK(rejection->pod == PodRef{"default", "a", "uid-default-a"});
  CHECK(rejection->node == "n");
  CHECK(rejection->reason == "OutOfnvidia.com/gpu");
  CHECK(rejection->at == kStarted);
  k8s::Pod undated = rejected("OutOfcpu");
  undated.status.start_time.reset();
  CHECK(rejection_of(undated)->at == kCreated);
}
