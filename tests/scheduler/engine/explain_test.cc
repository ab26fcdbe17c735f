#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

using namespace sched;
using namespace tests;

TEST_CASE("explain judges every node, by name, and changes nothing") {
  Scheduler s;
  s.synced();
  s.has(node("c").gpus(1).cpu("1"));
  s.has(node("a").gpus(8).tainted("team", "b"));
  s.has(node("b").gpus(8));
  s.has(their_pod("late").on("unknown"));
  const Explanation explained = s.engine.explain(our_pod("p").gpus(2).cpu("4"));
  CHECK_FALSE(explained.rejection);
  CHECK(explained.message.empty());
  CHECK(explained.details.empty());
  REQUIRE(explained.nodes.size() == 3);

  CHECK(explained.nodes[0].node == "a");
  CHECK(explained.nodes[0].code == Code::kUnresolvable);
  CHECK(explained.nodes[0].plugin == "TaintToleration");
  CHECK(explained.nodes[0].reasons == Texts{"node(s) had untolerated taint(s)"});

  CHECK(explained.nodes[1].node == "b");
  CHECK(explained.nodes[1].code == Code::kOk);
  CHECK(explained.nodes[1].plugin.empty());
  CHECK(explained.nodes[1].reasons.empty());

  CHECK(explained.nodes[2].node == "c");
  CHECK(explained.nodes[2].plugin == "NodeResourcesFit");
  CHECK(explained.nodes[2].reasons == Texts{"Insufficient cpu", "Insufficient nvidia.com/gpu"});
  CHECK(explained.nodes[2].numbers.size() == 2);

  CHECK(s.engine.pending() == PendingPods{});
  CHECK(s.decide().empty());
}

TEST_CASE("a pod that holds a place does not stand in its own way") {
  Scheduler s;
  s.synced();
  s.has(node("n").gpus(2));
  s.has(our_pod("a").gpus(2));
  REQUIRE(s.decide() == Texts{"a → n"});
  CHECK(s.engine.explain(our_pod("a").gpus(2)).message.empty());
  CHECK_FALSE(s.engine.explain(our_pod("b").gpus(1)).message.empty());
  s.has(our_pod("a").gpus(2).on("n"));
  CHECK(s.engine.explain(our_pod("a").gpus(2)).message.empty());
}

TEST_CASE("what a pod is charged for does not stand in its way") {
  Scheduler s;
  s.synced();
  s.has(node("n").gpus(8));
  s.apply(event::QuotaUpserted{gpu_quota("q").of("ml").line("*", 4)});
  const PodBuilder pod = our_pod("a").in_namespace("ml").gpus(4);
  const auto told = [&] { return s.engine.explain(pod).message; };
  s.has(pod);
  REQUIRE(s.decide() == Texts{"a → n"});
  CHECK(told().empty());
  s.has(PodBuilder(pod).on("n"));
  CHECK(told().empty());
  s.apply(event::QuotaUpserted{gpu_quota("q").of("ml").line("*", 5).generation(2)});
  s.has(our_pod("b").in_namespace("ml").gpus(1));
  REQUIRE(s.decide() == Texts{"b → n"});
  CHECK(told().empty());
  // It runs on. Were it pending, it would wait.
  s.apply(event::QuotaUpserted{gpu_quota("q").of("ml").line("*", 4).generation(3)});
  CHECK(told() == "quota q: * needs 4, 1 of 4 in use, first in line; 1 more must be freed");
}

TEST_CASE("a refusal of the pod as a whole is every node's answer") {
  Scheduler s;
  s.synced();
  s.has(node("n"));
  s.has(node("m"));
  const auto conflict =
      term({}, {label("metadata.name").in({"n"}), label("metadata.name").in({"m"})});
  struct Case {
    k8s::Pod pod;
    std::string plugin;
    std::string reason;
  };
  const Case cases[] = {
      {our_pod("a").requires_nodes({conflict}), "NodeAffinity", "pod affinity terms conflict"},
      {our_pod("b").labelled("waits-for", "x"), "WaitsForNamespace", "waiting for x"},
      // What no change can lift comes first.
      {our_pod("c").requires_nodes({conflict}).labelled("waits-for", "x"), "NodeAffinity",
       "pod affinity terms conflict"},
  };
  for (const Case& c : cases) {
    const Explanation explained = s.engine.explain(c.pod);
    CHECK(explained.rejection_plugin == c.plugin);
    CHECK(explained.rejection == c.reason);
    CHECK(explained.message == "0/2 nodes are available: " + c.reason + ".");
    REQUIRE(explained.nodes.size() == 2);
    for (const NodeExplanation& node : explained.nodes) {
      CHECK(node.code == Code::kUnresolvable);
      CHECK(node.plugin == c.plugin);
      CHECK(node.reasons == Texts{c.reason});
    }
  }
}

TEST_CASE("a node that was not asked has a reason and no plugin") {
  Scheduler s;
  s.synced();
  s.has(node("n"));
  s.has(node("m"));
  const Explanation explained = s.engine.explain(our_pod("a").requires_nodes({named({"n"})}));
  REQUIRE(explained.nodes.size() == 2);
  CHECK(explained.nodes[0].node == "m");
  CHECK(explained.nodes[0].code == Code::kUnresolvable);
  CHECK(explained.nodes[0].plugin.empty());
  CHECK(explained.nodes[0].reasons == Texts{"node(s) didn't satisfy plugin(s) [NodeAffinity]"});
  CHECK(explained.nodes[1].code == Code::kOk);
}

TEST_CASE("a pod that waits without GPUs can be asked about with some, under a quota") {
  Scheduler s;
  s.synced();
  s.has(node("n").gpus(8).cpu("4"));
  s.apply(event::QuotaUpserted{gpu_quota("q").of("ml").line("*", 1)});
  const PodBuilder waits = our_pod("a").in_namespace("ml").cpu("64");
  s.has(waits);
  REQUIRE(s.decide().size() == 1);
  CHECK(s.engine.explain(PodBuilder(waits).gpus(2)).message ==
        "quota q: * needs 2, 0 of 1 in use; it can never give that much");
}

TEST_CASE(
    "of a pod that a constraint refuses nothing is said of its quota, for which it does not wait") {
  Scheduler s;
  s.synced();
  s.has(node("n").gpus(8));
  s.apply(event::QuotaUpserted{gpu_quota("q").of("ml").line("*", 4)});
  const k8s::Pod pod = our_pod("a").in_namespace("ml").gpus(4).labelled("waits-for", "later");
  s.has(pod);
  const std::string told = "0/1 nodes are available: waiting for later.";
  CHECK(s.decide() == Texts{"a waits: " + told});
  const Explanation explained = s.engine.explain(pod);
  CHECK(explained.message == told);
  CHECK(explained.details.empty());
}
