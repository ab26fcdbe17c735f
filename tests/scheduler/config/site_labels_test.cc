// The section gpuLabels.
#include "scheduler/config/config.h"
#include "tests/scheduler/config/registry_double.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace {

using sched::gpu::SiteLabels;

// The section's first field is on line 4.
k8s::Result<SiteLabels> labels_of(const std::string& fields) {
  auto configuration = sched::config::parse(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "gpuLabels:\n" +
          fields,
      "c.yaml", sched::test::registry_double());
  if (!configuration) return tl::unexpected<k8s::Error>(configuration.error());
  return configuration->engine.site_labels;
}

}  // namespace

TEST_CASE("a site's labels are none where nothing is said, and else those that are named") {
  CHECK(labels_of("").value() == SiteLabels{});
  const auto some = labels_of(
      "  product: [gpu-type, example.com/gpu.model]\n  memory: [example.com/gpu_memory]\n");
  if (!some) FAIL(some.error().message);
  CHECK(some->product == std::vector<std::string>{"gpu-type", "example.com/gpu.model"});
  CHECK(some->memory == std::vector<std::string>{"example.com/gpu_memory"});
}

TEST_CASE("what cannot be a label's key is refused with its place") {
  struct Case {
    std::string fields;
    std::string want;
  };
  const Case cases[] = {
      {"  product: gpu-type\n", "c.yaml:4: gpuLabels.product: "},
      {"  product: [\"\"]\n", "c.yaml:4: gpuLabels.product: \"\" is not a label's key"},
      {"  product: [gpu type]\n", "gpuLabels.product: \"gpu type\" is not a label's key"},
      {"  product: [example.com/]\n", "\"example.com/\" is not a label's key"},
      {"  product: [/gpu-type]\n", "\"/gpu-type\" is not a label's key"},
      {"  product: [Example.com/gpu-type]\n", "\"Example.com/gpu-type\" is not a label's key"},
      {"  product: [-gpu-type]\n", "\"-gpu-type\" is not a label's key"},
      {"  product: [a/b/c]\n", "\"a/b/c\" is not a label's key"},
      {"  memory: [\"" + std::string(64, 'x') + "\"]\n", "is not a label's key"},
      {"  memory: [a, b, c, d, e, f, g, h, i]\n", "gpuLabels.memory: names more than 8 labels"},
      {"  models: [a]\n", "gpuLabels.models: unknown field; known here: memory, product"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.fields);
    const auto refused = labels_of(each.fields);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Catch::Contains(each.want));
  }
}
