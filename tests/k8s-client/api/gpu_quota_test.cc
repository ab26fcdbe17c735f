// The custom resource GpuQuota, read and written.
#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

constexpr const char* kFull = R"({"apiVersion":"gpu-scheduler.io/v1alpha1","kind":"GpuQuota",
  "metadata":{"name":"team-vision","uid":"u","resourceVersion":"7","generation":2,
    "creationTimestamp":"2026-01-02T03:04:05Z"},
  "spec":{"namespaces":["vision","vision-dev"],
    "namespaceSelector":{"matchLabels":{"team":"vision"}},
    "cohort":"research","parent":"physics","weight":3,"order":"Strict","whenDeleted":"Open","maxGpusPerPod":8,
    "quotas":[
      {"gpuType":"NVIDIA-H100-80GB-HBM3","guaranteed":"8","limit":16,"lendable":"4"},
      {"gpuType":"*","guaranteed":"500m"}]},
  "status":{"observedGeneration":2,
    "total":{"guaranteed":"8500m","used":"10","borrowed":"2","lent":"0","pending":"4"},
    "quotas":[{"gpuType":"NVIDIA-H100-80GB-HBM3","guaranteed":"8","used":"10","borrowed":"2",
      "lent":"0","pending":"4"}],
    "conditions":[{"type":"Ready","status":"True","observedGeneration":2,
      "lastTransitionTime":"2026-01-02T03:04:06Z","reason":"Enforced","message":"m"}]}})";

GpuQuota full() {
  const auto created = std::chrono::sys_days(std::chrono::year(2026) / 1 / 2) +
                       std::chrono::hours(3) + std::chrono::minutes(4) + std::chrono::seconds(5);
  GpuQuota quota;
  quota.metadata.name = "team-vision";
  quota.metadata.uid = "u";
  quota.metadata.resource_version = "7";
  quota.metadata.generation = 2;
  quota.metadata.creation_timestamp = created;
  quota.spec.namespaces = {"vision", "vision-dev"};
  quota.spec.namespace_selector = LabelSelector{{{"team", "vision"}}, {}};
  quota.spec.cohort = "research";
  quota.spec.parent = "physics";
  quota.spec.weight = 3;
  quota.spec.order = GpuQuota::Order::kStrict;
  quota.spec.when_deleted = GpuQuota::WhenDeleted::kOpen;
  quota.spec.max_gpus_per_pod = Quantity::of(8);
  quota.spec.quotas = {{.gpu_type = "NVIDIA-H100-80GB-HBM3",
                        .guaranteed = Quantity::of(8),
                        .limit = Quantity::of(16),
                        .lendable = Quantity::of(4)},
                       {.gpu_type = "*", .guaranteed = Quantity::of_milli(500)}};
  const GpuQuota::Use h100{.guaranteed = Quantity::of(8),
                           .used = Quantity::of(10),
                           .borrowed = Quantity::of(2),
                           .pending = Quantity::of(4)};
  GpuQuota::Status& status = quota.status.emplace();
  status.observed_generation = 2;
  status.total = h100;
  status.total.guaranteed = Quantity::of_milli(8'500);
  status.quotas = {{"NVIDIA-H100-80GB-HBM3", h100}};
  status.conditions = {{.type = "Ready",
                        .status = "True",
                        .observed_generation = 2,
                        .last_transition_time = created + std::chrono::seconds(1),
                        .reason = "Enforced",
                        .message = "m"}};
  return quota;
}

TEST_CASE("A GpuQuota is read with all that it says", "[decode]") {
  const auto quota = Decoder().object<GpuQuota>(kFull);
  if (!quota) FAIL(quota.error().message);
  CHECK(*quota == full());
  CHECK(Decoder().object<GpuQuota>(encode(full())).value() == full());
}

TEST_CASE("What a GpuQuota does not say is absent", "[decode]") {
  const auto quota = Decoder().object<GpuQuota>(
      R"({"metadata":{"name":"q"},"spec":{"namespaces":["a"],
        "quotas":[{"gpuType":"*","guaranteed":"1"}]}})");
  REQUIRE(quota);
  GpuQuota want;
  want.metadata.name = "q";
  want.spec.namespaces = {"a"};
  want.spec.quotas = {{.gpu_type = "*", .guaranteed = Quantity::of(1)}};
  CHECK(*quota == want);
  CHECK_FALSE(quota->status);
  CHECK(quota->spec.order == GpuQuota::Order::kBestEffort);
  CHECK(quota->spec.when_deleted == GpuQuota::WhenDeleted::kClose);
}

TEST_CASE("A selector that is empty is not one that is absent", "[decode]") {
  const auto quota =
      Decoder().object<GpuQuota>(R"({"metadata":{"name":"q"},"spec":{"namespaceSelector":{}}})");
  REQUIRE(quota);
  REQUIRE(quota->spec.namespace_selector);
  CHECK(quota->spec.namespace_selector->empty());
}

TEST_CASE("A GpuQuota that cannot be read says where", "[decode]") {
  struct Case {
    std::string spec;
    std::string want;
  };
  const std::vector<Case> cases = {
      {R"({"quotas":[{"gpuType":"*","guaranteed":"eight"}]})",
       "GpuQuota \"q\": spec.quotas[0].guaranteed: "},
      {R"({"quotas":[{"gpuType":"*","guaranteed":"1","limit":true}]})",
       "GpuQuota \"q\": spec.quotas[0].limit: must be a string or a number"},
      {R"({"namespaces":"vision"})", "GpuQuota \"q\": spec.namespaces: must be a list"},
      {R"({"quotas":[{"gpuType":1}]})",
       "GpuQuota \"q\": spec.quotas[0].gpuType: must be a string, found a number"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.spec);
    const auto quota =
        Decoder().object<GpuQuota>(R"({"metadata":{"name":"q"},"spec":)" + c.spec + "}");
    REQUIRE_FALSE(quota);
    CHECK_THAT(quota.error().message, Catch::StartsWith(c.want));
  }
}

TEST_CASE("A status that no scheduler has written is none", "[decode]") {
  const std::vector<std::string> statuses = {
      R"({"total":{"used":"a lot"}})", R"("none")", R"({"quotas":{}})",
      R"({"conditions":[{"type":"Ready","lastTransitionTime":"yesterday"}]})"};
  for (const std::string& status : statuses) {
    CAPTURE(status);
    const auto quota = Decoder().object<GpuQuota>(
        R"({"status":)" + status + R"(,"metadata":{"name":"q"},"spec":{"namespaces":["a"]}})");
    REQUIRE(quota);
    CHECK_FALSE(quota->status);
    CHECK(quota->spec.namespaces == std::vector<std::string>{"a"});
  }
}

TEST_CASE("An order that is not known is no order that is", "[decode]") {
  const auto quota =
      Decoder().object<GpuQuota>(R"({"metadata":{"name":"q"},"spec":{"order":"Fifo"}})");
  REQUIRE(quota);
  CHECK(quota->spec.order == GpuQuota::Order::kUnknown);
}

}  // namespace
}  // namespace k8s
