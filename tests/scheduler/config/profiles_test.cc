// What profiles a configuration gives: defaults, and what is laid over them.
#include "k8s-client/yaml/value.h"
#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "tests/scheduler/config/registry_double.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using sched::config::Configuration;
using sched::config::parse;
using sched::test::kHead;
using sched::test::registry_double;

// "name: filters | scores*weight | constraints" of each profile.
std::string described(const Configuration& configuration) {
  std::string text;
  for (const sched::Profile& profile : configuration.profiles) {
    text += profile.scheduler_name + ":";
    for (const auto& filter : profile.filters) text += fmt::format(" {}", filter->name());
    text += " |";
    for (const auto& score : profile.scores) {
      text += fmt::format(" {}*{}", score.plugin->name(), score.weight);
    }
    text += " |";
    for (const auto& constraint : profile.constraints) {
      text += fmt::format(" {}", constraint.plugin->name());
      if (!constraint.filters) text += " scores alone";
      if (constraint.weight != 0) text += fmt::format(" *{}", constraint.weight);
    }
    if (profile.preemption) {
      text +=
          fmt::format(" | preempts, bare pods {}, budgets {}", profile.preemption->evicts_bare_pods,
                      profile.preemption->violates_budgets);
    }
    text += "\n";
  }
  return text;
}

std::string profiles_of(const std::string& text) {
  const auto configuration = parse(text, "c.yaml", registry_double());
  return configuration ? described(*configuration) : configuration.error().message;
}

constexpr auto kDefaultProfile =
    "gpu-scheduler: TaintToleration NodeAffinity NodePorts NodeResourcesFit/MostAllocated"
    " | TaintToleration*30 NodeAffinity*20 GpuPacking*10"
    " | UnsupportedConstraints\n";

}  // namespace

TEST_CASE("empty text is the default profile") { CHECK(profiles_of("") == kDefaultProfile); }

TEST_CASE("the default profile spreads no pods that do not ask for it") {
  const auto built_in = parse("", "default", plugins::registry());
  REQUIRE(built_in);
  // Only from the objects that select pods it would know which of them belong together.
  CHECK((sched::changes_read(built_in->profiles) & sched::kSelectorChanged) == 0);
}

TEST_CASE("no constraint concerns a pod that asks for GPUs alone") {
  // Searches for groups and victims take longer for pods that some constraint concerns.
  const auto built_in = parse("", "default", plugins::registry());
  REQUIRE(built_in);
  REQUIRE_FALSE(built_in->profiles.front().constraints.empty());
  for (const sched::UsedConstraint& used : built_in->profiles.front().constraints) {
    INFO(used.plugin->name());
    CHECK_FALSE(used.plugin->concerns(tests::pod("a").gpus(1)));
  }
}

TEST_CASE("the configuration of the manifests says what the default is") {
  const auto shown =
      sched::config::load(tests::source_dir() + "/manifests/base/config.yaml", plugins::registry());
  const auto built_in = parse("", "default", plugins::registry());
  if (!shown) FAIL(shown.error().message);
  REQUIRE(built_in);
  CHECK(described(*shown) == described(*built_in));
  CHECK_THAT(described(*shown),
             Catch::Contains("TaintToleration*30") && Catch::Contains("NodeAffinity*20") &&
                 Catch::Contains("GpuSharing*10") && Catch::Contains("GpuPacking*10") &&
                 !Catch::Contains("NodeResourcesFit*1"));
  CHECK(shown->leader_election.leader_elect);
  CHECK(shown->warnings.empty());
  CHECK(shown->client_connection.qps == Approx(5'000));
  CHECK(shown->client_connection.burst == 10'000);
}

TEST_CASE("the Deployment elects a leader, whatever its configuration says") {
  // It has two replicas, and while it is updated also where it had one.
  const std::string manifests = tests::source_dir() + "/manifests";
  const auto deployment = k8s::yaml::read_file(manifests + "/base/deployment.yaml");
  if (!deployment) FAIL(deployment.error().message);
  CHECK_THAT(*deployment, Catch::Contains("            - --leader-elect=true\n"));
  sched::config::LeaderElectionFlags flags;
  flags.leader_elect = true;
  std::vector<std::string> files{manifests + "/examples/two-pools/config.yaml"};
  for (const auto& entry : std::filesystem::directory_iterator(manifests + "/policies")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  CHECK(files.size() > 5);
  for (const std::string& file : files) {
    INFO(file);
    const auto configuration = sched::config::load(file, plugins::registry());
    if (!configuration) FAIL(configuration.error().message);
    const auto election = sched::config::with_flags(configuration->leader_election, flags);
    if (!election) FAIL(election.error().message);
    CHECK(*election == sched::config::LeaderElection{});  // the lease for which it has the rights
  }
}

TEST_CASE("the policy kube-scheduler is kube-scheduler's default profile") {
  const auto policy = sched::config::load(
      tests::source_dir() + "/manifests/policies/kube-scheduler.yaml", plugins::registry());
  if (!policy) FAIL(policy.error().message);
  CHECK(described(*policy) ==
        "gpu-scheduler: NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts "
        "NodeResourcesFit"
        " | TaintToleration*3 NodeAffinity*2 NodeResourcesFit*1 NodeResourcesBalancedAllocation*1"
        " | UnsupportedConstraints VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
        "PodTopologySpread *2 InterPodAffinity *2 ImageLocality scores alone *1 "
        "NodeDeclaredFeatures DeviceClasses\n");
  CHECK(policy->warnings.empty());
}

TEST_CASE("profiles say what differs from the default") {
  struct Case {
    std::string name;
    std::string plugins;  // below "plugins:"
    std::string want;
  };
  const std::vector<Case> cases{
      {"nothing", "{}",
       "s: TaintToleration NodeAffinity NodePorts NodeResourcesFit/MostAllocated |"
       " TaintToleration*30 NodeAffinity*20 GpuPacking*10 |"
       " UnsupportedConstraints\n"},
      {"only what is named; constraints stay",
       "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: TaintToleration, weight: 3},"
       " {name: NodePorts}, {name: PrioritySort}]}}",
       "s: TaintToleration NodePorts | TaintToleration*3 | UnsupportedConstraints\n"},
      {"multiPoint beats the default, a specific point beats multiPoint",
       "{multiPoint: {enabled: [{name: TaintToleration, weight: 4}, {name: NodeAffinity, weight: "
       "5}]}, score: {enabled: [{name: NodeAffinity, weight: 6}], disabled: [{name: GpuPacking}]}}",
       "s: TaintToleration NodeAffinity NodePorts NodeResourcesFit/MostAllocated |"
       " TaintToleration*4 NodeAffinity*6 |"
       " UnsupportedConstraints\n"},
      {"a role at a time",
       "{filter: {disabled: [{name: TaintToleration}]}, score: {disabled: [{name: '*'}]}}",
       "s: NodeAffinity NodePorts NodeResourcesFit/MostAllocated | | UnsupportedConstraints\n"},
      {"disabled and enabled at one point: on, with that weight",
       "{score: {disabled: [{name: NodeAffinity}], enabled: [{name: NodeAffinity, weight: 9}]}}",
       "s: TaintToleration NodeAffinity NodePorts NodeResourcesFit/MostAllocated |"
       " TaintToleration*30 NodeAffinity*9 GpuPacking*10 |"
       " UnsupportedConstraints\n"},
      {"enabled without a weight weighs 1, as upstream", "{score: {enabled: [{name: GpuPacking}]}}",
       "s: TaintToleration NodeAffinity NodePorts NodeResourcesFit/MostAllocated |"
       " TaintToleration*30 NodeAffinity*20 GpuPacking*1 |"
       " UnsupportedConstraints\n"},
      {"what is off by default is there once it is enabled, in its role only",
       "{score: {disabled: [{name: '*'}], enabled: [{name: Alternative, weight: 2}]}}",
       "s: TaintToleration NodeAffinity NodePorts NodeResourcesFit/MostAllocated |"
       " Alternative*2 | UnsupportedConstraints\n"},
      {"in both", "{multiPoint: {enabled: [{name: Alternative}], disabled: [{name: '*'}]}}",
       "s: Alternative | Alternative*1 | UnsupportedConstraints\n"},
      {"switching off what is off anyway is no mistake",
       "{score: {disabled: [{name: '*'}, {name: Alternative}]}}",
       "s: TaintToleration NodeAffinity NodePorts NodeResourcesFit/MostAllocated | |"
       " UnsupportedConstraints\n"},
      {"scoring by cpu and memory is off until it is asked for",
       "{score: {enabled: [{name: NodeResourcesFit}]}}",
       "s: TaintToleration NodeAffinity NodePorts NodeResourcesFit/MostAllocated |"
       " TaintToleration*30 NodeAffinity*20 NodeResourcesFit/MostAllocated*1 GpuPacking*10 |"
       " UnsupportedConstraints\n"},
      {"upstream's plugins that are not built may be switched off",
       "{multiPoint: {disabled: [{name: PodTopologySpread}, {name: ImageLocality}]},"
       " postFilter: {disabled: [{name: DefaultPreemption}]}}",
       "s: TaintToleration NodeAffinity NodePorts NodeResourcesFit/MostAllocated |"
       " TaintToleration*30 NodeAffinity*20 GpuPacking*10 |"
       " UnsupportedConstraints\n"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const std::string text =
        fmt::format("{}profiles:\n- schedulerName: s\n  plugins: {}\n", kHead, c.plugins);
    CHECK(profiles_of(text) == c.want);
  }
}

TEST_CASE("pluginConfig replaces the default arguments as a whole") {
  const std::string text = fmt::format(
      "{}profiles:\n- schedulerName: s\n"
      "  plugins: {{score: {{enabled: [{{name: NodeResourcesFit}}]}}}}\n"
      "  pluginConfig:\n  - name: NodeResourcesFit\n"
      "    args: {{kind: NodeResourcesFitArgs, scoringStrategy: {{type: LeastAllocated}}}}\n",
      kHead);
  CHECK_THAT(profiles_of(text), Catch::Contains("NodeResourcesFit/LeastAllocated*1"));
}

TEST_CASE("arguments of scores are for profiles in which these score") {
  const auto read = [](const std::string& plugins, const std::string& plugin,
                       const std::string& args) {
    const auto configuration =
        parse(fmt::format("{}profiles:\n- schedulerName: s\n  plugins: {}\n  pluginConfig:\n"
                          "  - {{name: {}, args: {{{}}}}}\n",
                          kHead, plugins, plugin, args),
              "c.yaml", plugins::registry());
    return configuration ? std::string("taken") : configuration.error().message;
  };
  const std::string no_scores = "{score: {disabled: [{name: '*'}]}}";
  CHECK_THAT(read("{}", "NodeResourcesFit", "scoringStrategy: {type: MostAllocated}"),
             Catch::StartsWith("c.yaml:7: profiles[0].pluginConfig[0].args.scoringStrategy: has no "
                               "effect, since NodeResourcesFit does not score in this profile"));
  CHECK(read("{}", "NodeResourcesFit", "ignoredResources: [example.com/a]") == "taken");
  CHECK(read("{}", "NodeResourcesFit", "scoringStrategy: null") == "taken");
  CHECK(read("{score: {enabled: [{name: NodeResourcesFit}]}}", "NodeResourcesFit",
             "scoringStrategy: {type: MostAllocated}") == "taken");
  for (const char* args :
       {"hardPodAffinityWeight: 1", "ignorePreferredTermsOfExistingPods: false"}) {
    INFO(args);
    CHECK(read("{}", "InterPodAffinity", args) == "taken");
    CHECK_THAT(read(no_scores, "InterPodAffinity", args), Catch::Contains("has no effect, since"));
  }
  CHECK(read("{}", "GpuSharing", "placement: spread") == "taken");
  CHECK_THAT(read(no_scores, "GpuSharing", "placement: spread"),
             Catch::Contains("args.placement: has no effect, since GpuSharing"));
  CHECK(read(no_scores, "GpuSharing", "defaultSharing: never") == "taken");
}

TEST_CASE("several profiles") {
  const std::string text =
      fmt::format("{}profiles:\n- schedulerName: a\n- schedulerName: b\n", kHead);
  const auto configuration = parse(text, "c.yaml", registry_double());
  REQUIRE(configuration);
  REQUIRE(configuration->profiles.size() == 2);
  CHECK(configuration->profiles[1].scheduler_name == "b");
}

TEST_CASE("kube-scheduler's own pods may be served, with a warning") {
  const std::string text =
      fmt::format("{}profiles:\n- schedulerName: a\n- schedulerName: default-scheduler\n", kHead);
  const auto configuration = parse(text, "c.yaml", registry_double());
  REQUIRE(configuration);
  CHECK(configuration->profiles[1].scheduler_name == "default-scheduler");
  REQUIRE(configuration->warnings.size() == 1);
  CHECK_THAT(configuration->warnings[0],
             Catch::StartsWith("c.yaml:5: profiles[1].schedulerName: default-scheduler is what "
                               "pods have that name no scheduler"));
}

TEST_CASE("what makes a black hole is the same for all profiles") {
  const auto profiles = [](const char* first, const char* second) {
    const std::string text = fmt::format(
        "{}profiles:\n- schedulerName: a\n  pluginConfig:\n  - name: GpuHealth\n    args: {}\n"
        "- schedulerName: b\n  pluginConfig:\n  - name: GpuHealth\n    args: {}\n",
        kHead, first, second);
    const auto configuration = parse(text, "c.yaml", plugins::registry());
    return configuration ? std::string("taken") : configuration.error().message;
  };
  CHECK(profiles("{rejectedPods: 5}", "{rejectedPods: 5}") == "taken");
  CHECK(profiles("{rejectedPods: 5}", "{unhealthyTaints: []}") == "taken");
  CHECK_THAT(profiles("{rejectedPods: 5}", "{rejectedPods: 9}"),
             Catch::Contains("are those of profile \"a\" for all: leave them out here"));
  CHECK_THAT(profiles("{unhealthyTaints: []}", "{rejectedPods: 9}"),
             Catch::Contains("profiles[1].pluginConfig"));
}

TEST_CASE("a constraint is disabled by name alone, and with a warning") {
  const std::string text = fmt::format(
      "{}profiles:\n- schedulerName: s\n  plugins:\n    multiPoint:\n      disabled:\n"
      "      - name: UnsupportedConstraints\n",
      kHead);
  const auto configuration = parse(text, "c.yaml", registry_double());
  REQUIRE(configuration);
  CHECK(configuration->profiles[0].constraints.empty());
  REQUIRE(configuration->warnings.size() == 1);
  CHECK_THAT(configuration->warnings[0],
             Catch::StartsWith("c.yaml:8: profiles[0].plugins.multiPoint.disabled[0]: "
                               "UnsupportedConstraints is disabled"));
}

TEST_CASE("preemption is off until postFilter or multiPoint enables it") {
  const auto read = [](const std::string& profile) {
    const auto configuration =
        parse(fmt::format("{}profiles:\n- schedulerName: s\n{}", kHead, profile), "c.yaml",
              plugins::registry());
    if (!configuration) return configuration.error().message;
    const auto& preemption = configuration->profiles[0].preemption;
    if (!preemption) return std::string("off");
    std::string text = fmt::format("bare pods {}, budgets {}", preemption->evicts_bare_pods,
                                   preemption->violates_budgets);
    const auto seconds = preemption->reclaim_min_runtime.count();
    if (preemption->reclaims == sched::Preemption::Reclaims::kNever) text += ", reclaims never";
    if (preemption->reclaims == sched::Preemption::Reclaims::kAny) text += ", reclaims from any";
    if (seconds != 0) text += fmt::format(" after {} s", seconds);
    return text;
  };
  const std::string on = "  plugins: {postFilter: {enabled: [{name: DefaultPreemption}]}}\n";
  CHECK(read("") == "off");
  CHECK(read(on) == "bare pods false, budgets false");
  CHECK(read("  plugins: {multiPoint: {enabled: [{name: DefaultPreemption}]}}\n") ==
        "bare pods false, budgets false");
  CHECK(read("  plugins: {multiPoint: {enabled: [{name: DefaultPreemption}]},"
             " postFilter: {disabled: [{name: '*'}]}}\n") == "off");
  const std::string config = "  pluginConfig:\n  - name: DefaultPreemption\n    args: ";
  CHECK(read(on + config + "{evictBarePods: true, violateDisruptionBudgets: true}\n") ==
        "bare pods true, budgets true");
  CHECK(read(on + config + "{minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100}\n") ==
        "bare pods false, budgets false");
  CHECK(read(on + config + "{reclaimWithinCohort: LowerPriority}\n") ==
        "bare pods false, budgets false");
  CHECK(read(on + config + "{reclaimWithinCohort: Never}\n") ==
        "bare pods false, budgets false, reclaims never");
  CHECK(read(on + config + "{reclaimWithinCohort: Any, reclaimMinRuntimeSeconds: 600}\n") ==
        "bare pods false, budgets false, reclaims from any after 600 s");
  CHECK_THAT(read(on + config + "{reclaimWithinCohort: any}\n"),
             Catch::Contains("reclaimWithinCohort") && Catch::Contains("LowerPriority"));
  CHECK_THAT(read(on + config + "{reclaimWithinCohort: Any, reclaimMinRuntimeSeconds: -1}\n"),
             Catch::Contains("reclaimMinRuntimeSeconds"));
  CHECK_THAT(read(on + config + "{reclaimMinRuntimeSeconds: 600}\n"),
             Catch::Contains("has no effect unless reclaimWithinCohort is Any"));
  CHECK_THAT(read(on + config + "{minCandidateNodesPercentage: 101}\n"),
             Catch::Contains("minCandidateNodesPercentage"));
  CHECK_THAT(read(on + config + "{evictBarePod: true}\n"), Catch::Contains("evictBarePod"));
  // What it does not do there, and arguments that would have no effect.
  CHECK_THAT(read("  plugins: {filter: {enabled: [{name: DefaultPreemption}]}}\n"),
             Catch::Contains("DefaultPreemption does nothing at filter"));
  CHECK_THAT(read("  plugins: {postFilter: {enabled: [{name: NodeName}]}}\n"),
             Catch::Contains("NodeName does nothing at postFilter"));
  CHECK_THAT(read(config + "{evictBarePods: true}\n"), Catch::Contains("is disabled"));
}
