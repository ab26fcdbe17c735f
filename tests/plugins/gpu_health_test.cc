#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <chrono>

using k8s::TaintEffect;
using tests::Answer;
using tests::make_plugin;
using tests::node;
using tests::OneNode;
using tests::pod;
using namespace std::chrono_literals;

namespace {

constexpr const char* kState = "nvidia.com/mig.config.state";
constexpr const char* kConfig = "nvidia.com/mig.config";

Answer no(const char* reason) { return tests::unresolvable({reason}); }
const Answer kPending = no("node(s) had a MIG configuration that is pending");
const Answer kRebooting = no("node(s) were rebooting for a MIG configuration");
const Answer kFailed = no("node(s) had a MIG configuration that failed");
const Answer kCondition = no("node(s) had a condition that says they are unhealthy");
const Answer kTaint = no("node(s) had a taint that says they are unhealthy");

struct HealthCase {
  const char* name;
  k8s::Node node;
  Answer want;
  k8s::Pod pod = ::pod("a").gpus(1);
};

std::vector<HealthCase> cases() {
  const k8s::Pod plain = pod("a").cpu("1");
  const auto down = node("n").tainted("node.kubernetes.io/unreachable");
  return {
      {"nothing known", node("n"), tests::kFits},
      {"done", node("n").labelled(kState, "success"), tests::kFits},
      {"pending", node("n").labelled(kState, "pending"), kPending},
      {"rebooting", node("n").labelled(kState, "rebooting"), kRebooting},
      {"failed", node("n").labelled(kState, "failed"), kFailed},
      {"a word that mig-manager does not know", node("n").labelled(kState, "Pending?"),
       tests::kFits},
      {"no device asked for", node("n").labelled(kState, "failed"), tests::kFits, plain},
      {"a MIG instance asked for", node("n").labelled(kState, "pending"), kPending,
       pod("a").requests("nvidia.com/mig-1g.10gb", "1")},
      {"another vendor's device", node("n").condition("GPUMissing", "True"), kCondition,
       pod("a").requests("amd.com/gpu", "1")},
      {"a problem", node("n").condition("XIDErrors", "True"), kCondition},
      {"no problem", node("n").condition("XIDErrors", "False"), tests::kFits},
      {"nobody knows whether there is a problem", node("n").condition("XIDErrors", "Unknown"),
       tests::kFits},
      {"not ready", node("n").condition("AcceleratedHardwareReady", "False"), kCondition},
      {"ready", node("n").condition("AcceleratedHardwareReady", "True"), tests::kFits},
      {"a condition that is not listed", node("n").condition("EtcdIsVoter", "True"), tests::kFits},
      {"kubelet's own are taints elsewhere", node("n").condition("MemoryPressure", "True"),
       tests::kFits},
      {"a taint", down, kTaint},
      {"a taint that evicts as well",
       node("n").tainted("node.kubernetes.io/unreachable", "", TaintEffect::kNoExecute), kTaint},
      {"the second of two taints", node("n").tainted("a").tainted("karpenter.sh/disrupted"),
       kTaint},
      {"the second of two conditions",
       node("n").condition("EtcdIsVoter", "True").condition("XIDErrors", "True"), kCondition},
      {"a taint that is tolerated by name", down, tests::kFits,
       pod("a").gpus(1).tolerates("node.kubernetes.io/unreachable")},
      {"a taint that is tolerated with everything else", down, kTaint,
       pod("a").gpus(1).tolerates_everything()},
      {"a soft taint",
       node("n").tainted("node.kubernetes.io/unreachable", "", TaintEffect::kPreferNoSchedule),
       tests::kFits},
      {"a taint that says nothing of health", node("n").tainted("nvidia.com/gpu"), tests::kFits},
      {"all at once",
       node("n")
           .tainted("node.kubernetes.io/unreachable")
           .labelled(kState, "failed")
           .condition("GPUMissing", "True"),
       tests::unresolvable({kFailed.reasons[0], kCondition.reasons[0], kTaint.reasons[0]})},
  };
}

std::string complaint(const char* args) {
  const auto made = make_plugin("GpuHealth", args);
  return made ? "" : made.error().message;
}

}  // namespace

TEST_CASE("GpuHealth keeps pods with devices off nodes that are not well") {
  const auto made = make_plugin("GpuHealth");
  REQUIRE(made);
  for (const HealthCase& each : cases()) {
    INFO(each.name);
    CHECK(OneNode(each.node).ask(*made->filter, each.pod) == each.want);
  }
}

TEST_CASE("GpuHealth says what it saw") {
  const auto made = make_plugin("GpuHealth");
  REQUIRE(made);
  const auto said = [&](const k8s::Node& node) {
    return OneNode(node).numbers(*made->filter, pod("a").gpus(1));
  };
  using Texts = std::vector<std::string>;
  CHECK(said(node("n").labelled(kConfig, "all-1g.10gb").labelled(kState, "pending")) ==
        Texts{"nvidia.com/mig.config=all-1g.10gb, nvidia.com/mig.config.state=pending"});
  CHECK(said(node("n").condition("XIDErrors", "True", "GPUHasXIDErrors")) ==
        Texts{"XIDErrors (GPUHasXIDErrors)"});
  CHECK(said(node("n").condition("XIDErrors", "True")) == Texts{"XIDErrors"});
  CHECK(said(node("n").tainted("karpenter.sh/disrupted")) ==
        Texts{"karpenter.sh/disrupted, which no toleration of the pod names"});
}

TEST_CASE("GpuHealth reads the engine's back-off") {
  const auto made = make_plugin("GpuHealth");
  REQUIRE(made);
  sched::ResourceNames names;
  sched::NodeFacts facts = sched::facts_of(node("n").gpus(8), names);
  facts.health.backoff = {
      .until = k8s::Timestamp(1'767'225'660s), .rejected = 3, .reason = "UnexpectedAdmissionError"};
  const auto prepared = made->filter->prepare(sched::shape_of(pod("a").gpus(1), names), {names});
  REQUIRE(prepared.filter);
  const sched::NodeUsage usage;
  const sched::Verdict verdict = prepared.filter->check({facts, usage});
  CHECK(verdict == sched::Verdict::unresolvable(1U << 5U));
  CHECK(prepared.filter->numbers({facts, usage}, 5) ==
        "3 rejected, the last with UnexpectedAdmissionError; backed off until "
        "2026-01-01T00:01:00Z, or until a pod with devices starts there");
}

TEST_CASE("GpuHealth's arguments") {
  const auto strict = make_plugin("GpuHealth",
                                  "{unhealthyConditions: [Haunted], unhealthyTaints: [], "
                                  "rejectedPods: 1, rejectedWithinSeconds: 10, "
                                  "initialBackoffSeconds: 5, maxBackoffSeconds: 20}");
  REQUIRE(strict);
  const auto ask = [&](const k8s::Node& node) {
    return OneNode(node).ask(*strict->filter, pod("a").gpus(1));
  };
  CHECK(ask(node("n").condition("Haunted", "True")) == kCondition);
  CHECK(ask(node("n").condition("XIDErrors", "True")) == tests::kFits);
  CHECK(ask(node("n").tainted("karpenter.sh/disrupted")) == tests::kFits);
  CHECK(strict->filter->rejection_limits() ==
        sched::gpu::RejectionLimits{
            .pods = 1, .within = 10s, .initial_backoff = 5s, .max_backoff = 20s});
  CHECK(make_plugin("GpuHealth")->filter->rejection_limits() == sched::gpu::RejectionLimits{});

  // Keys with nothing behind them give no list: the defaults stay.
  const auto nothing = make_plugin("GpuHealth", "unhealthyConditions:\nunhealthyTaints: null");
  REQUIRE(nothing);
  CHECK(OneNode(node("n").condition("XIDErrors", "True")).ask(*nothing->filter, pod("a").gpus(1)) ==
        kCondition);
  CHECK(OneNode(node("n").tainted("karpenter.sh/disrupted"))
            .ask(*nothing->filter, pod("a").gpus(1)) == kTaint);

  const auto listing = make_plugin(
      "GpuHealth", "{unhealthyConditions: [Zeta, Alpha, Mid, Alpha], unhealthyTaints: [z, a, m]}");
  REQUIRE(listing);
  for (const char* condition : {"Alpha", "Mid", "Zeta"}) {
    CHECK(OneNode(node("n").condition(condition, "True")).ask(*listing->filter, pod("a").gpus(1)) ==
          kCondition);
  }
  for (const char* taint : {"a", "m", "z"}) {
    CHECK(OneNode(node("n").tainted(taint)).ask(*listing->filter, pod("a").gpus(1)) == kTaint);
  }

  CHECK_THAT(complaint("unhealthyConditions: XIDErrors"), Catch::Contains("unhealthyConditions"));
  CHECK_THAT(complaint("unhealthyTaints: ['']"), Catch::Contains("unhealthyTaints"));
  for (const char* key :
       {"rejectedPods", "rejectedWithinSeconds", "initialBackoffSeconds", "maxBackoffSeconds"}) {
    INFO(key);
    CHECK_THAT(complaint((std::string(key) + ": 0").c_str()), Catch::Contains(key));
    CHECK_THAT(complaint((std::string(key) + ": 86401").c_str()), Catch::Contains(key));
  }
  CHECK_THAT(complaint("rejectedPods: 101"), Catch::Contains("rejectedPods"));
  CHECK(complaint("rejectedPods: 100").empty());
  CHECK(complaint("maxBackoffSeconds: 86400").empty());
  CHECK(complaint("{initialBackoffSeconds: 20, maxBackoffSeconds: 20}").empty());
  CHECK_THAT(complaint("maxBackoffSeconds: 5"), Catch::Contains("less than initialBackoffSeconds"));
  CHECK_THAT(complaint("unhealthyCondition: []"), Catch::Contains("unhealthyCondition"));
  CHECK_THAT(complaint("kind: UsableGpuArgs"), Catch::Contains("GpuHealthArgs"));
  CHECK(complaint("kind: GpuHealthArgs").empty());
}
