// NodeUnschedulable, NodeName, TaintToleration and NodePorts.
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

using k8s::TaintEffect;
using tests::Answer;
using tests::make_plugin;
using tests::node;
using tests::OneNode;
using tests::pod;

namespace {

struct FilterCase {
  const char* name;
  k8s::Pod pod;
  k8s::Node node;
  Answer want;
  std::vector<k8s::Pod> on_node = {};
};

void check(const char* plugin, const std::vector<FilterCase>& cases) {
  const auto made = make_plugin(plugin);
  REQUIRE(made);
  CHECK(made->filter->name() == plugin);
  for (const FilterCase& each : cases) {
    INFO(each.name);
    CHECK(OneNode(each.node, each.on_node).ask(*made->filter, each.pod) == each.want);
  }
}

}  // namespace

TEST_CASE("NodeUnschedulable") {
  constexpr const char* kTaint = "node.kubernetes.io/unschedulable";
  const Answer no = tests::unresolvable({"node(s) were unschedulable"});
  check(
      "NodeUnschedulable",
      {
          {"open", pod("a"), node("n"), tests::kFits},
          {"cordoned", pod("a"), node("n").cordoned(), no},
          {"tolerated", pod("a").tolerates(kTaint), node("n").cordoned(), tests::kFits},
          {"tolerated by the empty value", pod("a").tolerates(kTaint, ""), node("n").cordoned(),
           tests::kFits},
          {"a value does not match", pod("a").tolerates(kTaint, "true"), node("n").cordoned(), no},
          {"another effect", pod("a").tolerates(kTaint, "", TaintEffect::kNoExecute),
           node("n").cordoned(), no},
          {"everything tolerated", pod("a").tolerates_everything(), node("n").cordoned(),
           tests::kFits},
      });
}

TEST_CASE("NodeName") {
  check("NodeName", {
                        {"none asked for", pod("a"), node("n"), tests::kFits},
                        {"this one", pod("a").on("n"), node("n"), tests::kFits},
                        {"another", pod("a").on("m"), node("n"),
                         tests::unresolvable({"node(s) didn't match the requested node name"})},
                    });
}

TEST_CASE("TaintToleration") {
  const Answer no = tests::unresolvable({"node(s) had untolerated taint(s)"});
  const auto gpu = [] { return node("n").tainted("nvidia.com/gpu", "present"); };
  k8s::Pod greater = pod("a").tolerates("nvidia.com/gpu", "1");
  greater.spec.tolerations[0].op = k8s::TolerationOperator::kGt;
  k8s::Pod keyless = pod("a").tolerates("", "present");
  check("TaintToleration",
        {
            {"no taint", pod("a"), node("n"), tests::kFits},
            {"NoSchedule", pod("a"), gpu(), no},
            {"NoExecute", pod("a"), node("n").tainted("k", "", TaintEffect::kNoExecute), no},
            {"PreferNoSchedule is no refusal", pod("a"),
             node("n").tainted("k", "", TaintEffect::kPreferNoSchedule), tests::kFits},
            {"tolerated by key", pod("a").tolerates("nvidia.com/gpu"), gpu(), tests::kFits},
            {"tolerated by value", pod("a").tolerates("nvidia.com/gpu", "present"), gpu(),
             tests::kFits},
            {"another value", pod("a").tolerates("nvidia.com/gpu", "absent"), gpu(), no},
            {"another key", pod("a").tolerates("amd.com/gpu"), gpu(), no},
            {"another effect",
             pod("a").tolerates("nvidia.com/gpu", "present", TaintEffect::kNoExecute), gpu(), no},
            {"one of two", pod("a").tolerates("nvidia.com/gpu"), gpu().tainted("k"), no},
            {"one key with two effects", pod("a").tolerates("k", "", TaintEffect::kNoSchedule),
             node("n").tainted("k").tainted("k", "", TaintEffect::kNoExecute), no},
            {"everything tolerated", pod("a").tolerates_everything(), gpu().tainted("k"),
             tests::kFits},
            {"Equal without a key compares the value alone", keyless, gpu(), tests::kFits},
            {"Gt is not in force", greater, node("n").tainted("nvidia.com/gpu", "2"), no},
        });
}

TEST_CASE("TaintToleration names the taint") {
  const auto made = make_plugin("TaintToleration");
  REQUIRE(made);
  OneNode tainted(
      node("n").tainted("soft", "", TaintEffect::kPreferNoSchedule).tainted("dedicated", "ml"));
  CHECK(tainted.numbers(*made->filter, pod("a")) ==
        std::vector<std::string>{"taint dedicated=ml:NoSchedule, tolerated by {key: dedicated, "
                                 "value: \"ml\", effect: NoSchedule}"});
  OneNode without_value(node("n").tainted("nvidia.com/gpu", "", TaintEffect::kNoExecute));
  CHECK(without_value.numbers(*made->filter, pod("a")) ==
        std::vector<std::string>{"taint nvidia.com/gpu:NoExecute, tolerated by {key: "
                                 "nvidia.com/gpu, operator: Exists, effect: NoExecute}"});
  // Nobody is told to run pods on a node that cannot.
  OneNode not_ready(node("n").tainted("node.kubernetes.io/not-ready"));
  CHECK(not_ready.numbers(*made->filter, pod("a")) ==
        std::vector<std::string>{"taint node.kubernetes.io/not-ready:NoSchedule"});
}

TEST_CASE("TaintToleration counts soft taints that are not tolerated") {
  const auto made = make_plugin("TaintToleration");
  REQUIRE(made);
  CHECK(made->score->normalisation() == sched::Normalisation::kReversed);
  OneNode soft(node("n")
                   .tainted("a", "", TaintEffect::kPreferNoSchedule)
                   .tainted("b", "", TaintEffect::kPreferNoSchedule)
                   .tainted("c"));
  CHECK(soft.score(*made->score, pod("p")) == 2);
  CHECK(soft.score(*made->score, pod("p").tolerates("a")) == 1);
  CHECK(soft.score(*made->score, pod("p").tolerates("a", "", TaintEffect::kNoSchedule)) == 2);
  CHECK(soft.score(*made->score, pod("p").tolerates_everything()) == 0);
}

TEST_CASE("NodePorts") {
  const Answer no =
      tests::unschedulable({"node(s) didn't have free ports for the requested pod ports"});
  const auto there = [](tests::PodBuilder other) { return std::vector<k8s::Pod>{other}; };
  check(
      "NodePorts",
      {
          {"none wanted", pod("a"), node("n"), tests::kFits, there(pod("b").host_port(80))},
          {"free", pod("a").host_port(80), node("n"), tests::kFits, there(pod("b").host_port(81))},
          {"taken", pod("a").host_port(80), node("n"), no, there(pod("b").host_port(80))},
          {"another protocol", pod("a").host_port(80, "", "UDP"), node("n"), tests::kFits,
           there(pod("b").host_port(80))},
          {"no protocol means TCP", pod("a").host_port(80, "", ""), node("n"), no,
           there(pod("b").host_port(80))},
          {"another address", pod("a").host_port(80, "10.0.0.1"), node("n"), tests::kFits,
           there(pod("b").host_port(80, "10.0.0.2"))},
          {"one address, all taken", pod("a").host_port(80, "10.0.0.1"), node("n"), no,
           there(pod("b").host_port(80))},
          {"all addresses, one taken", pod("a").host_port(80), node("n"), no,
           there(pod("b").host_port(80, "10.0.0.2"))},
          {"port 0 is none", pod("a").host_port(0), node("n"), tests::kFits,
           there(pod("b").host_port(0))},
          {"the second of two", pod("a").host_port(79).host_port(80), node("n"), no,
           there(pod("b").host_port(80))},
          {"twice in the pod itself", pod("a").host_port(80).host_port(80), node("n"),
           tests::kFits},
      });
}

TEST_CASE("NodePorts says which port is taken") {
  const auto made = make_plugin("NodePorts");
  REQUIRE(made);
  OneNode there(node("n"), {pod("b").host_port(80).host_port(53, "", "UDP")});
  const auto said = [&](const k8s::Pod& given) { return there.numbers(*made->filter, given); };
  using Texts = std::vector<std::string>;
  CHECK(said(pod("a").host_port(79).host_port(80)) == Texts{"host port 80/TCP is taken"});
  CHECK(said(pod("a").host_port(53, "", "UDP")) == Texts{"host port 53/UDP is taken"});
  CHECK(said(pod("a").host_port(79)).empty());
}
