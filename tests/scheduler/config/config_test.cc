// The configuration's own fields, and every way to get it wrong.
#include "scheduler/config/config.h"

#include "tests/scheduler/config/registry_double.h"
#include "tests/support/catch.h"

namespace {

using sched::config::parse;
using sched::config::TransportKind;
using sched::test::kHead;
using sched::test::registry_double;

struct Case {
  std::string name;
  std::string text;  // from line 3 on
  std::string want;  // the message begins with it
};

void check_messages(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.name);
    const auto configuration = parse(std::string(kHead) + c.text, "c.yaml", registry_double());
    if (configuration) {
      FAIL_CHECK("accepted");
      continue;
    }
    CHECK_THAT(configuration.error().message, Catch::StartsWith(c.want));
    CHECK(configuration.error().kind == k8s::ErrorKind::kConfig);
  }
}

// Line 3 is "profiles:", line 4 the name.
std::string profile(const std::string& rest) { return "profiles:\n- schedulerName: s\n" + rest; }
// Line 5 is "plugins:", line 6 the given text.
std::string plugins(const std::string& rest) { return profile("  plugins:\n    " + rest + "\n"); }

}  // namespace

TEST_CASE("a profile may say that every node is looked at") {
  for (const char* each : {"0", "100"}) {
    const std::string text = profile(std::string("  percentageOfNodesToScore: ") + each + "\n");
    CHECK(parse(std::string(kHead) + text, "c.yaml", registry_double()));
  }
}

TEST_CASE("fields arrive") {
  const auto configuration =
      parse(std::string(kHead) +
                "leaderElection: {leaderElect: false}\n"
                "parallelism: 1\n"
                "percentageOfNodesToScore: 100\n"
                "extenders: []\n"
                "enableProfiling: false\n"
                "clientConnection: {kubeconfig: /k, qps: 12.5, burst: 3,\n"
                "  transport: cpprest, contentType: application/vnd.kubernetes.protobuf}\n"
                "podInitialBackoffSeconds: 2\n"
                "podMaxBackoffSeconds: 7\n",
            "c.yaml", registry_double());
  if (!configuration) FAIL(configuration.error().message);
  CHECK_FALSE(configuration->leader_election.leader_elect);
  CHECK(configuration->client_connection.kubeconfig == "/k");
  CHECK(configuration->client_connection.qps == Approx(12.5));
  CHECK(configuration->client_connection.burst == 3);
  CHECK(configuration->client_connection.transport == TransportKind::kCpprest);
  CHECK(configuration->engine.initial_backoff == std::chrono::seconds(2));
  CHECK(configuration->engine.max_backoff == std::chrono::seconds(7));
}

TEST_CASE("requests go over Asio unless something else is said") {
  const auto configuration = parse(kHead, "c.yaml", registry_double());
  REQUIRE(configuration);
  CHECK(configuration->client_connection.transport == TransportKind::kAsio);
}

TEST_CASE("fields that are wrong") {
  check_messages({
      {"unknown field", "paralellism: 1\n", "c.yaml:3: paralellism: unknown field"},
      {"duplicate", "parallelism: 1\nparallelism: 1\n", "c.yaml:4: "},
      {"wrong type", "parallelism: many\n", "c.yaml:3: parallelism: must be an integer"},
      {"quoted boolean", "enableProfiling: 'false'\n",
       "c.yaml:3: enableProfiling: must be true or false"},
      {"parallelism", "parallelism: 16\n", "c.yaml:3: parallelism: decisions are made on one"},
      {"sampling", "percentageOfNodesToScore: 50\n",
       "c.yaml:3: percentageOfNodesToScore: only 0 or 100"},
      {"extenders", "extenders: [{urlPrefix: http://x}]\n", "c.yaml:3: extenders: are not built"},
      {"JSON alone", "clientConnection: {contentType: application/json}\n",
       "c.yaml:3: clientConnection.contentType: must be one of"},
      {"transport", "clientConnection: {transport: curl}\n",
       "c.yaml:3: clientConnection.transport: must be one of"},
      {"qps", "clientConnection: {qps: 0}\n", "c.yaml:3: clientConnection.qps: must be above 0"},
      {"qps is no number", "clientConnection: {qps: .nan}\n", "c.yaml:3: "},
      {"burst", "clientConnection: {burst: -1}\n",
       "c.yaml:3: clientConnection.burst: must be at least 1"},
      {"unknown below", "clientConnection: {qqps: 1}\n",
       "c.yaml:3: clientConnection.qqps: unknown field"},
      {"back-off", "podInitialBackoffSeconds: 0\n",
       "c.yaml:3: podInitialBackoffSeconds: must be at least 1"},
      {"back-offs crossed", "podMaxBackoffSeconds: 3\npodInitialBackoffSeconds: 4\n",
       "c.yaml:3: podMaxBackoffSeconds: must be at least podInitialBackoffSeconds"},
      {"profiling", "enableProfiling: true\n", "c.yaml:3: enableProfiling: "},
      {"contention", "enableContentionProfiling: true\n", "c.yaml:3: enableContentionProfiling: "},
      {"standby", "delayCacheUntilActive: true\n", "c.yaml:3: delayCacheUntilActive: "},
      {"addresses are flags", "metricsBindAddress: ':1'\n",
       "c.yaml:3: metricsBindAddress: is not a field of v1; use the flag --http-bind-address"},
      {"two documents", "---\nkind: x\n", "c.yaml:4: a second document"},
      {"no profiles", "profiles: []\n", "c.yaml:3: profiles: is empty"},
      {"profiles is no list", "profiles: {}\n", "c.yaml:3: profiles: must be a list"},
  });
}

TEST_CASE("profiles that are wrong") {
  check_messages({
      {"no name", "profiles:\n- plugins: {}\n", "c.yaml:4: profiles[0].schedulerName: is missing"},
      {"empty name", "profiles:\n- schedulerName: ''\n",
       "c.yaml:4: profiles[0].schedulerName: is missing"},
      {"a name with a blank", "profiles:\n- schedulerName: ' gpu-scheduler'\n",
       "c.yaml:4: profiles[0].schedulerName: \" gpu-scheduler\" is no name such as gpu-scheduler"},
      {"a name with a quote", "profiles:\n- schedulerName: it's\n",
       "c.yaml:4: profiles[0].schedulerName: \"it's\" is no name"},
      {"one name twice", profile("- schedulerName: s\n"),
       "c.yaml:5: profiles[1].schedulerName: \"s\" has a profile already"},
      {"sampling", profile("  percentageOfNodesToScore: 5\n"),
       "c.yaml:5: profiles[0].percentageOfNodesToScore: only 0 or 100"},
      {"unknown point", plugins("filters: {}"),
       "c.yaml:6: profiles[0].plugins.filters: unknown field"},
      {"unknown plugin", plugins("filter: {enabled: [{name: Fit}]}"),
       "c.yaml:6: profiles[0].plugins.filter.enabled[0].name: unknown plugin \"Fit\"; known are: "
       "TaintToleration"},
      {"unknown plugin disabled", plugins("filter: {disabled: [{name: Fit}]}"),
       "c.yaml:6: profiles[0].plugins.filter.disabled[0].name: unknown plugin \"Fit\""},
      {"not built", plugins("score: {enabled: [{name: ImageLocality}]}"),
       "c.yaml:6: profiles[0].plugins.score.enabled[0].name: ImageLocality is not built"},
      {"no name in a list", plugins("score: {enabled: [{weight: 1}]}"),
       "c.yaml:6: profiles[0].plugins.score.enabled[0]"},
      {"all enabled", plugins("score: {enabled: [{name: '*'}]}"),
       "c.yaml:6: profiles[0].plugins.score.enabled[0].name: unknown plugin"},
      {"no such step", plugins("score: {enabled: [{name: NodePorts}]}"),
       "c.yaml:6: profiles[0].plugins.score.enabled[0].name: NodePorts does nothing at score"},
      {"nothing to disable", plugins("permit: {disabled: [{name: NodePorts}]}"),
       "c.yaml:6: profiles[0].plugins.permit.disabled[0].name: NodePorts does nothing at permit"},
      {"twice", plugins("filter: {enabled: [{name: NodePorts}, {name: NodePorts}]}"),
       "c.yaml:6: profiles[0].plugins.filter.enabled[1].name: NodePorts is enabled twice"},
      {"a misspelt plugin with a weight",
       plugins("score: {enabled: [{name: NodeAfinity, weight: 2}]}"),
       "c.yaml:6: profiles[0].plugins.score.enabled[0].name: unknown plugin"},
      {"weight of a filter", plugins("filter: {enabled: [{name: NodeAffinity, weight: 2}]}"),
       "c.yaml:6: profiles[0].plugins.filter.enabled[0].weight: has no effect here"},
      {"weight of one that does not score",
       plugins("multiPoint: {enabled: [{name: NodePorts, weight: 2}]}"),
       "c.yaml:6: profiles[0].plugins.multiPoint.enabled[0].weight: has no effect here"},
      {"weight zero", plugins("score: {enabled: [{name: NodeAffinity, weight: 0}]}"),
       "c.yaml:6: profiles[0].plugins.score.enabled[0].weight: must be at least 1"},
      {"the engine's own", plugins("queueSort: {disabled: [{name: PrioritySort}]}"),
       "c.yaml:6: profiles[0].plugins.queueSort.disabled[0].name: PrioritySort is part of the"},
      {"the engine's own elsewhere", plugins("filter: {enabled: [{name: DefaultBinder}]}"),
       "c.yaml:6: profiles[0].plugins.filter.enabled[0].name: DefaultBinder works at bind"},
      {"contradiction",
       plugins("{preFilter: {enabled: [{name: NodePorts}]}, filter: {disabled: [{name: "
               "NodePorts}]}}"),
       "c.yaml:6: profiles[0].plugins.preFilter: NodePorts is enabled here and disabled under "
       "filter"},
  });
}

TEST_CASE("arguments that are wrong") {
  const auto config = [](const std::string& item) {
    return profile("  pluginConfig:\n  - " + item + "\n");
  };
  check_messages({
      {"no name", config("args: {}"), "c.yaml:6: profiles[0].pluginConfig[0]: needs the name"},
      {"no args", config("name: NodePorts"),
       "c.yaml:6: profiles[0].pluginConfig[0].args: are missing"},
      {"unknown plugin", config("{name: Fit, args: {}}"),
       "c.yaml:6: profiles[0].pluginConfig[0].name: unknown plugin \"Fit\""},
      {"not built", config("{name: PodTopologySpread, args: {}}"),
       "c.yaml:6: profiles[0].pluginConfig[0].name: PodTopologySpread is not built"},
      {"the engine's own", config("{name: PrioritySort, args: {}}"),
       "c.yaml:6: profiles[0].pluginConfig[0].name: PrioritySort takes no arguments"},
      {"unknown argument", config("{name: NodePorts, args: {x: 1}}"),
       "c.yaml:6: profiles[0].pluginConfig[0].args.x: unknown field"},
      {"another version", config("{name: NodePorts, args: {apiVersion: v1}}"),
       "c.yaml:6: profiles[0].pluginConfig[0].args.apiVersion: must be one of "
       "kubescheduler.config.k8s.io/v1"},
      {"another kind", config("{name: NodePorts, args: {kind: NodeAffinityArgs}}"),
       "c.yaml:6: profiles[0].pluginConfig[0].args.kind: must be one of NodePortsArgs"},
      {"deep inside", config("{name: NodeResourcesFit, args: {scoringStrategy: {type: x}}}"),
       "c.yaml:6: profiles[0].pluginConfig[0].args.scoringStrategy.type: must be one of"},
      {"of a score that is off",
       config("{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}"),
       "c.yaml:6: profiles[0].pluginConfig[0].args.scoringStrategy: has no effect, since "
       "NodeResourcesFit does not score in this profile"},
      {"twice", config("{name: NodePorts, args: {}}\n  - {name: NodePorts, args: {}}"),
       "c.yaml:7: profiles[0].pluginConfig[1].name: NodePorts is configured twice"},
      {"of a disabled plugin",
       profile("  plugins: {filter: {disabled: [{name: NodePorts}]}}\n"
               "  pluginConfig:\n  - {name: NodePorts, args: {}}\n"),
       "c.yaml:7: profiles[0].pluginConfig[0].name: NodePorts is disabled in this profile"},
  });
}

TEST_CASE("what is not this kind of document") {
  const auto message = [](std::string_view text) {
    const auto configuration = parse(text, "c.yaml", registry_double());
    return configuration ? std::string("accepted") : configuration.error().message;
  };
  CHECK_THAT(message("kind: KubeSchedulerConfiguration\n"),
             Catch::StartsWith("c.yaml:1: apiVersion: must be kubescheduler.config.k8s.io/v1"));
  CHECK_THAT(message("apiVersion: kubescheduler.config.k8s.io/v1beta3\n"
                     "kind: KubeSchedulerConfiguration\n"),
             Catch::StartsWith("c.yaml:1: apiVersion: must be kubescheduler.config.k8s.io/v1"));
  CHECK_THAT(message("apiVersion: kubescheduler.config.k8s.io/v1\nkind: Pod\n"),
             Catch::StartsWith("c.yaml:2: kind: must be KubeSchedulerConfiguration"));
  CHECK_THAT(message("just words"), Catch::StartsWith("c.yaml:1: must be a map"));
  CHECK_THAT(message("a: [1\n"), Catch::StartsWith("c.yaml:"));
}

TEST_CASE("a file that cannot be read") {
  const auto configuration = sched::config::load("/nowhere/c.yaml", registry_double());
  REQUIRE_FALSE(configuration);
  CHECK_THAT(configuration.error().message, Catch::Contains("/nowhere/c.yaml"));
}
