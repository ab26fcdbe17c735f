#include "plugins/registry.h"

#include "bench/policies/registry.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <set>

TEST_CASE("every plugin is made, has the roles it is listed with, and its own name") {
  std::set<std::string_view> names;
  for (const sched::PluginEntry& entry : bench::registry()) {
    INFO(entry.name);
    CHECK(names.insert(entry.name).second);
    const auto made = tests::make_plugin(entry.name);
    REQUIRE(made);
    CHECK((made->filter != nullptr) == entry.filters);
    // A constraint scores by what it prefers.
    CHECK((made->score != nullptr) == (entry.scores && !entry.constrains));
    CHECK((made->constraint != nullptr) == entry.constrains);
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

TEST_CASE("a plugin without arguments takes none") {
  const auto made = tests::make_plugin("NodeName", "nodeName: a");
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error().message, Catch::Contains("nodeName"));
}
