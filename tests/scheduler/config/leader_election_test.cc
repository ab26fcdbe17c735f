// The section leaderElection, alone and with flags over it.
#include "scheduler/config/config.h"
#include "tests/scheduler/config/registry_double.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::config::LeaderElection;
using sched::config::LeaderElectionFlags;
using sched::config::with_flags;

// The section's first field is on line 4.
k8s::Result<LeaderElection> election_of(const std::string& fields) {
  auto configuration = sched::config::parse(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "leaderElection: " +
          (fields.empty() ? std::string("{}\n") : "\n" + fields),
      "c.yaml", sched::test::registry_double());
  if (!configuration) return tl::unexpected<k8s::Error>(configuration.error());
  return configuration->leader_election;
}

}  // namespace

TEST_CASE("an election is what happens when nothing is said") {
  const LeaderElection want{.leader_elect = true,
                            .lease_duration = 15s,
                            .renew_deadline = 10s,
                            .retry_period = 2s,
                            .resource_name = "gpu-scheduler",
                            .resource_namespace = "gpu-scheduler"};
  CHECK(election_of("") == want);
  CHECK(election_of("  leaderElect: true\n") == want);
  const auto defaults = sched::config::parse("", "none", sched::test::registry_double());
  REQUIRE(defaults);
  CHECK(defaults->leader_election == want);
}

TEST_CASE("the lease's settings arrive") {
  const auto election = election_of(
      "  leaderElect: true\n"
      "  leaseDuration: 1m\n"
      "  renewDeadline: 40s\n"
      "  retryPeriod: 500ms\n"
      "  resourceLock: leases\n"
      "  resourceName: other\n"
      "  resourceNamespace: ns\n");
  if (!election) FAIL(election.error().message);
  CHECK(*election == LeaderElection{.leader_elect = true,
                                    .lease_duration = 60s,
                                    .renew_deadline = 40s,
                                    .retry_period = 500ms,
                                    .resource_name = "other",
                                    .resource_namespace = "ns"});
}

TEST_CASE("lease settings that are wrong") {
  struct Case {
    std::string name;
    std::string fields;  // from line 4 on
    std::string want;    // the message begins with it
  };
  const std::vector<Case> cases = {
      {"no duration", "  leaseDuration: 15\n", "c.yaml:4: leaderElection.leaseDuration: must be"},
      {"a word", "  leaseDuration: long\n",
       "c.yaml:4: leaderElection.leaseDuration: must be a duration in whole milliseconds, such as "
       "15s"},
      {"zero", "  leaseDuration: 0s\n",
       "c.yaml:4: leaderElection.leaseDuration: must be whole seconds"},
      {"not whole", "  leaseDuration: 15500ms\n",
       "c.yaml:4: leaderElection.leaseDuration: must be whole seconds"},
      {"not whole by less than a millisecond", "  leaseDuration: 15s900us\n",
       "c.yaml:4: leaderElection.leaseDuration: must be a duration in whole milliseconds"},
      {"renewed too late", "  renewDeadline: 15s\n",
       "c.yaml:4: leaderElection.renewDeadline: must be shorter than leaseDuration, which is "
       "15000"},
      {"no time to try again", "  retryPeriod: 9s\n", "c.yaml:"},
      {"retry zero", "  retryPeriod: 0s\n",
       "c.yaml:4: leaderElection.retryPeriod: must be at least 1ms"},
      {"another lock", "  resourceLock: endpoints\n",
       "c.yaml:4: leaderElection.resourceLock: must be one of leases"},
      {"no name", "  resourceName: ''\n",
       "c.yaml:4: leaderElection.resourceName: must not be empty"},
      {"no namespace", "  resourceNamespace: ''\n",
       "c.yaml:4: leaderElection.resourceNamespace: must not be empty"},
      {"a name in capitals", "  resourceName: GPU-Scheduler\n",
       "c.yaml:4: leaderElection.resourceName: \"GPU-Scheduler\" is no name of a Lease"},
      {"a name that is a path", "  resourceName: a/b\n",
       "c.yaml:4: leaderElection.resourceName: \"a/b\" is no name of a Lease"},
      {"a name too long for that of the quotas", "  resourceName: " + std::string(247, 'a') + "\n",
       "c.yaml:4: leaderElection.resourceName: \"aaa"},
      {"a namespace with a dot", "  resourceNamespace: kube.system\n",
       "c.yaml:4: leaderElection.resourceNamespace: \"kube.system\" is no name of a namespace"},
      {"a namespace that is too long", "  resourceNamespace: " + std::string(64, 'a') + "\n",
       "c.yaml:4: leaderElection.resourceNamespace: \"aaa"},
      {"unknown", "  leaseDurationSeconds: 15\n",
       "c.yaml:4: leaderElection.leaseDurationSeconds: unknown field"},
      {"a lease without election", "  leaderElect: false\n  leaseDuration: 15s\n",
       "c.yaml:5: leaderElection.leaseDuration: has no effect while leaderElect is false"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const auto election = election_of(c.fields);
    if (election) {
      FAIL_CHECK("accepted");
      continue;
    }
    CHECK_THAT(election.error().message, Catch::StartsWith(c.want));
  }
}

TEST_CASE("the longest names of a lease and of its namespace") {
  const std::string name(246, 'a');
  const std::string name_space(63, 'b');
  const auto election =
      election_of("  resourceName: " + name + "\n  resourceNamespace: " + name_space + "\n");
  if (!election) FAIL(election.error().message);
  CHECK(election->resource_name == name);
  CHECK(election->resource_namespace == name_space);
}

TEST_CASE("without election the names are those of the lease that marks the store") {
  const auto election = election_of(
      "  leaderElect: false\n"
      "  resourceName: other\n"
      "  resourceNamespace: ns\n");
  if (!election) FAIL(election.error().message);
  CHECK_FALSE(election->leader_elect);
  CHECK(election->resource_name == "other");
  CHECK(election->resource_namespace == "ns");
  CHECK_THAT(election_of("  leaderElect: false\n  resourceName: a/b\n").error().message,
             Catch::StartsWith("c.yaml:5: leaderElection.resourceName: \"a/b\" is no name"));

  LeaderElectionFlags flags;
  flags.resource_namespace = "from-flag";
  CHECK(with_flags(*election, flags)->resource_name == "other");
  CHECK(with_flags(*election, flags)->resource_namespace == "from-flag");
}

TEST_CASE("flags win over the file") {
  const LeaderElection file{.lease_duration = 60s, .resource_name = "from-file"};
  const auto election = with_flags(file, {.leader_elect = {},
                                          .lease_duration = "3s",
                                          .renew_deadline = "2s",
                                          .retry_period = "500ms",
                                          .resource_lock = "leases",
                                          .resource_name = {},
                                          .resource_namespace = "from-flag"});
  if (!election) FAIL(election.error().message);
  CHECK(*election == LeaderElection{.leader_elect = true,
                                    .lease_duration = 3s,
                                    .renew_deadline = 2s,
                                    .retry_period = 500ms,
                                    .resource_name = "from-file",
                                    .resource_namespace = "from-flag"});
}

TEST_CASE("an election that a flag switches off") {
  LeaderElectionFlags flags;
  flags.leader_elect = false;
  flags.lease_duration = "what?";
  const auto election = with_flags(LeaderElection{}, flags);
  REQUIRE(election);
  CHECK_FALSE(election->leader_elect);
}

TEST_CASE("flags that are wrong") {
  const auto message = [](const LeaderElectionFlags& flags) {
    const auto election = with_flags(LeaderElection{}, flags);
    return election ? std::string("accepted") : election.error().message;
  };
  LeaderElectionFlags flags;
  SECTION("no duration") {
    flags.retry_period = "2";
    CHECK(message(flags) ==
          "--leader-elect-retry-period: must be a duration in whole milliseconds, such as 15s or "
          "500ms");
  }
  SECTION("out of order") {
    flags.lease_duration = "10s";
    CHECK_THAT(message(flags), Catch::StartsWith("--leader-elect-renew-deadline: must be shorter"));
  }
  SECTION("no name of a lease") {
    flags.resource_name = "my lease";
    CHECK_THAT(message(flags), Catch::StartsWith("--leader-elect-resource-name: \"my lease\" is no "
                                                 "name of a Lease"));
  }
  SECTION("another lock") {
    flags.resource_lock = "configmaps";
    CHECK(message(flags) == "--leader-elect-resource-lock: must be leases");
  }
}
