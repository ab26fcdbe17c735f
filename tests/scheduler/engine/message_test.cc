// What a pod is told when it fits nowhere: kube-scheduler's words, and the numbers behind them.
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

struct MessageCase {
  const char* name;
  std::vector<k8s::Node> nodes;
  std::vector<k8s::Pod> pods;  // there already
  k8s::Pod pod;
  std::string message;
  std::string details;
  Texts plugins;
};

std::vector<MessageCase> message_cases() {
  return {
      {"no nodes at all",
       {},
       {},
       our_pod("a").gpus(1),
       "no nodes available to schedule pods",
       "",
       {}},
      {"too few free GPUs on each node",
       {node("a1").gpus(8), node("a2").gpus(8), node("a3").gpus(8)},
       {their_pod("p").gpus(6).on("a2"), their_pod("q").gpus(7).on("a1"),
        their_pod("r").gpus(6).on("a3")},
       our_pod("a").gpus(4),
       "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
       "nvidia.com/gpu: needs 4 on one node; most free is 2 of 8 (a2). nvidia.com/gpu: 5 "
       "free in all on the 3 nodes left to the pod.",
       {"NodeResourcesFit"}},
      {"whole and shared GPUs of one name are not added up",
       {node("whole").gpus(8), node("shared")
                                   .gpus(4)
                                   .product("NVIDIA-L4-SHARED")
                                   .labelled("nvidia.com/gpu.count", "1")
                                   .labelled("nvidia.com/gpu.replicas", "4")
                                   .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing")},
       {their_pod("p").gpus(6).on("whole"), their_pod("q").gpus(3).on("shared")},
       our_pod("a").gpus(4),
       "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
       "nvidia.com/gpu: needs 4 on one node; most free is 2 of 8 (whole). nvidia.com/gpu: 2 "
       "free in all on the one node left to the pod. nvidia.com/gpu (shared): needs 4 on "
       "one node; most free is 1 of 4 (shared). nvidia.com/gpu (shared): 1 free in all on "
       "the one node left to the pod.",
       {"NodeResourcesFit"}},
      {"more than any node has",
       {node("a1").gpus(4), node("a2").gpus(8)},
       {},
       our_pod("a").gpus(16),
       "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
       "nvidia.com/gpu: needs 16 on one node; no node left to the pod has more than 8.",
       {"NodeResourcesFit"}},
      {"one node with several reasons, sorted as text",
       {node("n1").cpu("2").memory("4Gi"), node("n2").cpu("16").memory("4Gi"),
        node("n3").cordoned()},
       {},
       our_pod("a").cpu("8").memory("6Gi"),
       "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable, 2 Insufficient "
       "memory.",
       "memory: needs 6Gi on one node; no node left to the pod has more than 4Gi; 1 node would "
       "take the pod but for NodeUnschedulable. cpu: needs 8 on one node; 1 of the 2 nodes left to "
       "the pod has less free. NodeUnschedulable: node(s) were unschedulable (first n3).",
       {"NodeResourcesFit", "NodeUnschedulable"}},
      {"enough of each on some node, and all of it on none",
       {node("big").cpu("64"), node("g1").cpu("4").gpus(8), node("g2").cpu("4").gpus(8)},
       {},
       our_pod("a").cpu("8").gpus(4),
       "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 Insufficient cpu.",
       "cpu: needs 8 on one node; 2 of the 3 nodes left to the pod have less free. "
       "nvidia.com/gpu: needs 4 on one node; 1 of the 3 nodes left to the pod has less free.",
       {"NodeResourcesFit"}},
      {"of nodes with nothing free one that has GPUs is named, not one that has none",
       {node("cpu-1"), node("full").gpus(8), node("full-2").gpus(8)},
       {their_pod("p").gpus(8).on("full"), their_pod("q").gpus(8).on("full-2")},
       our_pod("a").gpus(1),
       "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
       "nvidia.com/gpu: needs 1 on one node; most free is 0 of 8 (full). nvidia.com/gpu: 0 free in "
       "all on the 3 nodes left to the pod.",
       {"NodeResourcesFit"}},
      {"counts are sorted as text, not as numbers",
       [] {
         std::vector<k8s::Node> nodes;
         for (int i = 0; i < 10; ++i) nodes.push_back(node("c" + std::to_string(i)).cordoned());
         nodes.push_back(node("n").gpus(1));
         nodes.push_back(node("o").gpus(1));
         return nodes;
       }(),
       {},
       our_pod("a").gpus(2),
       "0/12 nodes are available: 10 node(s) were unschedulable, 2 Insufficient nvidia.com/gpu.",
       "nvidia.com/gpu: needs 2 on one node; no node left to the pod has more than 1.",
       {"NodeResourcesFit", "NodeUnschedulable"}},
      {"several things against every node",
       {node("n1").gpus(1).tainted("team"), node("n2").gpus(1).cordoned()},
       {},
       our_pod("a").gpus(2),
       "0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.",
       "No node would take the pod if only one thing were different: 1 node refuses for "
       "NodeUnschedulable and NodeResourcesFit, 1 for TaintToleration and NodeResourcesFit.",
       {"NodeUnschedulable", "TaintToleration"}},
      {"narrowed to nodes by name",
       {node("n1").gpus(1), node("n2").gpus(1), node("n3").gpus(1)},
       {their_pod("p").gpus(1).on("n2")},
       our_pod("a").gpus(1).requires_nodes({named({"n2"})}),
       "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) didn't satisfy plugin(s) "
       "[NodeAffinity].",
       "nvidia.com/gpu: needs 1 on one node; most free is 0 of 1 (n2). nvidia.com/gpu: 0 "
       "free in all on the one node left to the pod.",
       {"NodeAffinity", "NodeResourcesFit"}},
      {"a label that no node has",
       {node("n1").labelled("product", "A100"), node("n2").labelled("product", "H100-80GB"),
        node("n3").labelled("zone", "a").labelled("kind", "x")},
       {},
       our_pod("a")
           .selects("product", "H100")
           .requires_nodes({term({label("zome").in({"a"}), label("kind").in({"y", "x"}),
                                  label("rack").in({"1"}), label("zone").in({"b"})})}),
       "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
       "No node has the label product=H100; the nearest are A100, H100-80GB. No node has a label "
       "zome; is zone meant? No node has a label rack. 3 nodes would take the pod but for "
       "NodeAffinity. NodeAffinity: node(s) didn't match Pod's node affinity/selector (first n1).",
       {"NodeAffinity"}},
      {"a label that only a node has which a rule across nodes excludes",
       {node("n1").labelled("pool", "a").labelled("kubernetes.io/hostname", "n1"),
        node("n2").labelled("pool", "b").labelled("kubernetes.io/hostname", "n2")},
       {},
       our_pod("a")
           .selects("pool", "a")
           .near(tests::pods_like({{"app", "x"}}, "kubernetes.io/hostname")),
       "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) "
       "didn't match pod affinity rules.",
       "1 node would take the pod but for NodeAffinity. NodeAffinity: node(s) didn't match Pod's "
       "node affinity/selector (first n2).",
       {"InterPodAffinity", "NodeAffinity"}},
      {"a label, where no node was looked at",
       {node("n1").labelled("pool", "a")},
       {},
       our_pod("a").selects("pool", "a").annotated("gpu-scheduler.io/gpu-type", ","),
       "0/1 nodes are available: gpu-scheduler.io/gpu-type: \",\" has an item that names nothing.",
       "",
       {"GpuType"}},
      {"a device that no node offers",
       {node("n1").tainted("team"), node("n2").cpu("1")},
       {},
       our_pod("a").cpu("2").requests("example.com/nic", "1"),
       "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient example.com/nic, 1 node(s) had "
       "untolerated taint(s).",
       "No node of 2 offers example.com/nic: is its device plugin running? cpu: needs 2 on "
       "one node; no node left to the pod has more than 1. example.com/nic: needs 1 on one "
       "node; no node left to the pod has any.",
       {"NodeResourcesFit", "TaintToleration"}},
      {"a device that no node offers, before a label that no node has",
       {node("n1").labelled("zone", "a")},
       {},
       our_pod("a").selects("zone", "b").requests("example.com/nic", "1"),
       "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
       "No node of 1 offers example.com/nic: is its device plugin running? No node has the label "
       "zone=b; the nearest are a. No node would take the pod if only one thing were different: 1 "
       "node refuses for NodeAffinity and NodeResourcesFit.",
       {"NodeAffinity"}},
      {"the one node that is left is full, the others have a taint, or are too small",
       {node("full").gpus(8), node("t1").gpus(8).tainted("team"),
        node("t2").gpus(8).tainted("team"), node("c").gpus(8).cordoned()},
       {their_pod("p").gpus(8).on("full")},
       our_pod("a").gpus(4),
       "0/4 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable, 2 "
       "node(s) had untolerated taint(s).",
       "nvidia.com/gpu: needs 4 on one node; most free is 0 of 8 (full); 2 nodes would take "
       "the pod but for TaintToleration, 1 but for NodeUnschedulable. nvidia.com/gpu: 0 "
       "free in all on the one node left to the pod. NodeUnschedulable: node(s) were "
       "unschedulable (first c). TaintToleration: node(s) had untolerated taint(s) (first "
       "t1: taint team:NoSchedule, tolerated by {key: team, operator: Exists, effect: "
       "NoSchedule}).",
       {"NodeResourcesFit", "NodeUnschedulable", "TaintToleration"}},
      {"a contradiction in the pod itself",
       {node("n1")},
       {},
       our_pod("a").requires_nodes(
           {term({}, {label("metadata.name").in({"n1"}), label("metadata.name").in({"n2"})})}),
       "0/1 nodes are available: pod affinity terms conflict.",
       "",
       {"NodeAffinity"}},
      {"a constraint's note",
       {node("n1").gpus(1)},
       {},
       our_pod("a").gpus(2).labelled("noted", "yes"),
       "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
       "nvidia.com/gpu: needs 2 on one node; no node left to the pod has more than 1. Noted.",
       {"NodeResourcesFit"}},
  };
}

}  // namespace

TEST_CASE("a pod that fits nowhere is told why") {
  for (const MessageCase& c : message_cases()) {
    CAPTURE(c.name);
    Scheduler s;
    for (const k8s::Node& node : c.nodes) s.has(node);
    for (const k8s::Pod& pod : c.pods) s.has(pod);
    s.synced();
    s.has(c.pod);
    const auto decisions = s.decisions();
    REQUIRE(decisions.size() == 1);
    REQUIRE(std::holds_alternative<decision::Unschedulable>(decisions[0]));
    const auto& refusal = std::get<decision::Unschedulable>(decisions[0]);
    CHECK(refusal.message == c.message);
    CHECK(refusal.details == c.details);
    CHECK(refusal.plugins == c.plugins);

    const Explanation explained = s.engine.explain(c.pod);
    CHECK(explained.message == c.message);
    CHECK(explained.details == c.details);
    require_explained_alike(s.engine, c.pod);
  }
}

TEST_CASE("a cordoned node would take the pod but for that, also with Kubernetes' taint on it") {
  constexpr const char* kTaint = "node.kubernetes.io/unschedulable";
  Scheduler s;
  s.synced();
  s.has(node("c1").gpus(8).cordoned().tainted(kTaint));
  s.has(node("c2").gpus(8).cordoned());
  s.has(node("c3").gpus(8).cordoned().tainted(kTaint).tainted("team", "a"));
  s.has(node("c4").gpus(2).cordoned().tainted(kTaint));
  s.has(node("t1").gpus(8).tainted(kTaint));
  s.has(our_pod("a").gpus(4));
  const auto decisions = s.decisions();
  REQUIRE(decisions.size() == 1);
  CHECK(std::get<decision::Unschedulable>(decisions[0]).details ==
        "2 nodes would take the pod but for NodeUnschedulable, 1 but for TaintToleration. "
        "NodeUnschedulable: node(s) were unschedulable (first c1). TaintToleration: node(s) had "
        "untolerated taint(s) "
        "(first t1: taint node.kubernetes.io/unschedulable:NoSchedule).");
}

TEST_CASE(
    "nodes that would take the pod but for a taint are counted, with the first one's numbers") {
  Scheduler s;
  s.synced();
  s.has(node("t2").gpus(8).tainted("team", "b"));
  s.has(node("t1").gpus(8).tainted("team", "a"));
  s.has(node("t3").gpus(1).tainted("team", "c"));
  s.has(our_pod("a").gpus(4));
  const auto decisions = s.decisions();
  REQUIRE(decisions.size() == 1);
  const std::string& details = std::get<decision::Unschedulable>(decisions[0]).details;
  CHECK(
      details.starts_with("2 nodes would take the pod but for TaintToleration. TaintToleration: "
                          "node(s) had untolerated taint(s) (first t1"));
}
