// The section gpuQuota.
#include "scheduler/config/config.h"
#include "tests/scheduler/config/registry_double.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::quota::Options;
using sched::quota::WithoutQuota;

// The section's first field is on line 4.
k8s::Result<Options> quota_options_of(const std::string& fields) {
  auto configuration = sched::config::parse(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "gpuQuota:\n" +
          fields,
      "c.yaml", sched::test::registry_double());
  if (!configuration) return tl::unexpected<k8s::Error>(configuration.error());
  return configuration->engine.quota;
}

}  // namespace

TEST_CASE("where nothing is said about quotas, namespaces without one are not limited") {
  const auto options = quota_options_of("");
  REQUIRE(options);
  CHECK(options->without_quota == WithoutQuota::kUnlimited);
  CHECK(options->default_quota.empty());
  CHECK(options->hold_after == 600s);
  CHECK(options->closed_after_deletion == 60s);
  CHECK_FALSE(options->pods_without_quota_first);
  CHECK_FALSE(options->bound_cohorts);
}

TEST_CASE("what is said about quotas arrives") {
  const auto none =
      quota_options_of("  defaultQuota: None\n  holdAfter: 1m30s\n  podsWithoutQuota: First\n");
  if (!none) FAIL(none.error().message);
  CHECK(none->without_quota == WithoutQuota::kNone);
  CHECK(none->hold_after == 90s);
  CHECK(none->pods_without_quota_first);
  CHECK(quota_options_of("  boundCohorts: true\n")->bound_cohorts);

  const auto named = quota_options_of("  defaultQuota: everyone-else\n  podsWithoutQuota: Last\n");
  if (!named) FAIL(named.error().message);
  CHECK(named->without_quota == WithoutQuota::kNamed);
  CHECK(named->default_quota == "everyone-else");
  CHECK_FALSE(named->pods_without_quota_first);

  const std::string longest(253, 'q');
  const auto long_name = quota_options_of("  defaultQuota: " + longest + "\n");
  if (!long_name) FAIL(long_name.error().message);
  CHECK(long_name->default_quota == longest);

  const auto unlimited = quota_options_of(
      "  defaultQuota: Unlimited\n  holdAfter: \"0\"\n"
      "  closedAfterDeletion: \"0\"\n");
  if (!unlimited) FAIL(unlimited.error().message);
  CHECK(unlimited->without_quota == WithoutQuota::kUnlimited);
  CHECK(unlimited->hold_after == 0s);
  CHECK(unlimited->closed_after_deletion == 0s);
  const auto patient = quota_options_of("  closedAfterDeletion: 1h\n");
  if (!patient) FAIL(patient.error().message);
  CHECK(patient->closed_after_deletion == 3600s);
  CHECK(patient->hold_after == 600s);
}

TEST_CASE("what is wrong in the section gpuQuota is said with its line") {
  struct Case {
    std::string fields;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"  defaultQuota: unlimited team\n",
       "c.yaml:4: gpuQuota.defaultQuota: must be Unlimited, None, or the name of a GpuQuota"},
      {"  defaultQuota: team-\n",
       "c.yaml:4: gpuQuota.defaultQuota: must be Unlimited, None, or the name of a GpuQuota"},
      {"  defaultQuota: none!\n",
       "c.yaml:4: gpuQuota.defaultQuota: must be Unlimited, None, or the name of a GpuQuota"},
      {"  defaultQuota: " + std::string(254, 'q') + "\n",
       "c.yaml:4: gpuQuota.defaultQuota: must be Unlimited, None, or the name of a GpuQuota"},
      {"  defaultQuota: none\n",
       "c.yaml:4: gpuQuota.defaultQuota: must be Unlimited or None, with a capital"},
      {"  holdAfter: 10\n", "c.yaml:4: gpuQuota.holdAfter: "},
      {"  holdAfter: soon\n",
       "c.yaml:4: gpuQuota.holdAfter: must be a duration in whole seconds, at most a year, such as "
       "10m"},
      {"  holdAfter: 1500ms\n",
       "c.yaml:4: gpuQuota.holdAfter: must be a duration in whole seconds"},
      {"  closedAfterDeletion: forever\n",
       "c.yaml:4: gpuQuota.closedAfterDeletion: must be a duration in whole seconds"},
      {"  podsWithoutQuota: Never\n", "c.yaml:4: gpuQuota.podsWithoutQuota: "},
      {"  limit: 4\n", "c.yaml:4: gpuQuota.limit: "},
  };
  for (const Case& c : cases) {
    CAPTURE(c.fields);
    const auto options = quota_options_of(c.fields);
    REQUIRE_FALSE(options);
    CHECK_THAT(options.error().message, Catch::StartsWith(c.want));
  }
}
