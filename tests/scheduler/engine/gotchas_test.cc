// Lines of manifests/gpu-clusters.md where what a node says is believed, right or wrong: nothing
// may break, and nothing more may be placed than the node says it has.
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

using namespace sched;
using namespace tests;

TEST_CASE("a GPU that died while a pod holds it leaves less than nothing free") {
  Scheduler s;
  s.synced();
  s.has(node("n").gpus(8));
  s.has(their_pod("theirs").gpus(8).on("n"));
  s.has(node("n").gpus(7));
  s.has(our_pod("a").gpus(1));
  const auto decisions = s.decisions();
  REQUIRE(decisions.size() == 1);
  const auto& refusal = std::get<decision::Unschedulable>(decisions[0]);
  CHECK(refusal.message == "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
  CHECK(refusal.details ==
        "nvidia.com/gpu: needs 1 on one node; most free is 0 of 7 (n). nvidia.com/gpu: 0 "
        "free in all on the one node left to the pod.");
  s.pod_gone(their_pod("theirs"));
  CHECK(s.decide() == Texts{"a → n"});
}

TEST_CASE("replicas that go by the name of whole GPUs are taken as such, up to their number") {
  Scheduler s;
  s.synced();
  s.has(node("n")
            .gpus(4)
            .product("NVIDIA-L4-SHARED")
            .labelled("nvidia.com/gpu.count", "1")
            .labelled("nvidia.com/gpu.replicas", "4")
            .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing"));
  s.has(our_pod("a").gpus(1));
  CHECK(s.decide() == Texts{"a → n"});
  s.has(our_pod("b").gpus(4));
  CHECK(s.decide().front().starts_with("b waits: 0/1 nodes are available: 1 Insufficient"));
}

TEST_CASE("shares are shares, whatever a quota on whole GPUs says: what was let in is placed") {
  Scheduler s;
  s.synced();
  s.has(node("n").offers("nvidia.com/gpu.shared", "4").product("NVIDIA-L4"));
  s.has(our_pod("a").requests("nvidia.com/gpu.shared", "1"));
  CHECK(s.decide() == Texts{"a → n"});
}

TEST_CASE("of several models in one node the label names one, and is believed") {
  Scheduler s;
  s.synced();
  s.has(node("n").gpus(8).product("NVIDIA-L4"));
  s.has(our_pod("a").gpus(1).selects("nvidia.com/gpu.product", "NVIDIA-L4"));
  s.has(our_pod("b").gpus(1).selects("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"));
  const Texts told = s.decide();
  REQUIRE(told.size() == 2);
  CHECK(told[0] == "a → n");
  CHECK(told[1].starts_with("b waits: 0/1 nodes are available: 1 node(s) didn't match"));
}

TEST_CASE("HAMi's virtual GPUs are counted as the node counts them") {
  Scheduler s;
  s.synced();
  s.has(node("n").gpus(80).product("NVIDIA-A100-SXM4-80GB").labelled("nvidia.com/gpu.count", "8"));
  s.has(our_pod("a").gpus(80));
  CHECK(s.decide() == Texts{"a → n"});
  s.has(our_pod("b").gpus(1));
  CHECK(s.decide().front().starts_with("b waits: 0/1 nodes are available: 1 Insufficient"));
}
