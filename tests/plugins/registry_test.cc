#include "plugins/registry.h"

#include "bench/policies/registry.h"
#include "tests/plugins/labels.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

TEST_CASE("every plugin is made, has the roles it is listed with, and its own name") {
  std::set<std::string_view> names;
  for (const sched::PluginEntry& entry : bench::registry()) {
    INFO(entry.name);
    CHECK(names.insert(entry.name).second);
    const auto made = tests::make_plugin(entry.name);
    REQUIRE(made);
    CHECK((made->filter != nullptr) == entry.filters);
    // A constraint scores by what it prefers, and may do nothing else.
    CHECK((made->score != nullptr || made->constraint != nullptr) ==
          (entry.scores || entry.constrains));
    CHECK_FALSE((made->score != nullptr && made->constraint != nullptr));
    if (entry.constrains) CHECK(made->constraint != nullptr);
    if (!entry.score_args.empty()) CHECK(entry.scores);
    if (made->filter) CHECK(made->filter->name() == entry.name);
    if (made->score) CHECK(made->score->name() == entry.name);
    if (made->constraint) CHECK(made->constraint->name() == entry.name);
  }
}

TEST_CASE("filters are asked in kube-scheduler's order") {
  std::vector<std::string_view> filters;
  for (const sched::PluginEntry& entry : plugins::registry()) {
    if (entry.filters) filters.push_back(entry.name);
  }
  CHECK(filters == std::vector<std::string_view>{"NodeUnschedulable", "NodeName", "TaintToleration",
                                                 "NodeAffinity", "NodePorts", "NodeResourcesFit",
                                                 "GpuHealth", "GpuType", "MigFit", "GpuSharing"});
}

TEST_CASE("the default scores put soft taints before a pod's wishes, and these before packing") {
  struct Score {
    std::string_view name;
    std::int64_t weight;
    bool on_by_default;
    bool operator==(const Score&) const = default;
  };
  std::vector<Score> scores;
  for (const sched::PluginEntry& entry : plugins::registry()) {
    if (entry.scores) scores.push_back({entry.name, entry.default_weight, entry.on_by_default});
  }
  CHECK(scores == std::vector<Score>{{"TaintToleration", 30, true},
                                     {"NodeAffinity", 20, true},
                                     {"NodeResourcesFit", 1, true},
                                     {"NodeResourcesBalancedAllocation", 1, false},
                                     {"GpuType", 1, true},
                                     {"GpuSharing", 10, true},
                                     {"GpuPacking", 10, true},
                                     {"UsableGpu", 1, false},
                                     {"PodTopologySpread", 20, true},
                                     {"InterPodAffinity", 20, true},
                                     {"ImageLocality", 1, false}});
}

TEST_CASE("what a profile has only if its configuration enables it: what evicts, and some scores") {
  std::vector<std::string_view> off;
  for (const sched::PluginEntry& entry : plugins::registry()) {
    if (!entry.on_by_default) off.push_back(entry.name);
  }
  CHECK(off == std::vector<std::string_view>{"NodeResourcesBalancedAllocation", "UsableGpu",
                                             "ImageLocality", "DefaultPreemption"});
}

TEST_CASE("what does not read the pods of a node is not asked again when one comes or goes") {
  const tests::PodBuilder given = tests::pod("p")
                                      .cpu("1")
                                      .gpus(1)
                                      .host_port(80)
                                      .selects("zone", "a")
                                      .prefers_nodes(1, tests::term({tests::label("a").exists()}))
                                      .annotated(tests::kType, "L4,H100")
                                      .annotated(tests::kSharing, "never")
                                      .on("n");
  sched::ResourceNames names;
  std::vector<std::string_view> reading;
  std::vector<std::string_view> filters;
  std::vector<std::string_view> scores;
  for (const sched::PluginEntry& entry : plugins::registry()) {
    INFO(entry.name);
    const auto made = tests::make_plugin(entry.name);
    REQUIRE(made);
    const sched::PodShape shape = sched::shape_of(given, names);
    if (made->filter) {
      const auto prepared = made->filter->prepare(shape, {names});
      REQUIRE(prepared.filter);
      (prepared.filter->reads_usage() ? reading : filters).push_back(entry.name);
    }
    if (made->score) {
      const auto prepared = made->score->prepare(shape, {names});
      if (prepared && !prepared->reads_usage()) scores.push_back(entry.name);
    }
  }
  using PluginNames = std::vector<std::string_view>;
  CHECK(reading == PluginNames{"NodePorts", "NodeResourcesFit"});
  CHECK(filters == PluginNames{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity",
                               "GpuHealth", "GpuType", "MigFit", "GpuSharing"});
  CHECK(scores == PluginNames{"TaintToleration", "NodeAffinity"});

  // What other pods say that they take of a shared GPU's memory.
  const auto sharing = tests::make_plugin("GpuSharing");
  REQUIRE(sharing);
  tests::PodBuilder with_memory = given;
  with_memory.annotated("gpu-scheduler.io/gpu-memory", "1Gi");
  const auto prepared = sharing->filter->prepare(sched::shape_of(with_memory, names), {names});
  REQUIRE(prepared.filter);
  CHECK(prepared.filter->reads_usage());
}

TEST_CASE("a plugin without arguments takes none") {
  const auto made = tests::make_plugin("NodeName", "nodeName: a");
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error().message, Catch::Contains("nodeName"));
}
