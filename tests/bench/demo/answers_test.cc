// What bench what-if tells of each pod that it is asked about.
#include "bench/what_if/answers.h"

#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <map>
#include <string>
#include <vector>

namespace bench {
namespace {

using tests::node;
using tests::pod;
using tests::PodBuilder;

constexpr sched::Time kNow{};

// The node, or what the pod is told, by what it is called.
std::map<std::string, std::string> told(const std::vector<k8s::Pod>& pods) {
  auto config = sched::config::parse("", "the default configuration", plugins::registry());
  REQUIRE(config);
  sched::Engine engine(std::move(config->profiles), config->engine);
  engine.apply(sched::event::NodeUpserted{node("n").cpu("8").gpus(2)}, kNow);
  engine.apply(sched::event::Synced{}, kNow);
  std::map<std::string, std::string> by_name;
  for (const Outcome& outcome : answers(engine, pods, {"gpu-scheduler"}, kNow)) {
    by_name[outcome.pod] = outcome.waits() ? outcome.message : outcome.node;
  }
  return by_name;
}

PodBuilder asked(std::string_view name) {
  PodBuilder builder = pod(name);
  builder.uid(name).cpu("1");
  return builder;
}

TEST_CASE("what-if says of a pod that is not decided on why it is not") {
  struct Case {
    std::string name;
    k8s::Pod pod;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"one that fits", asked("a"), "n"},
      {"one of another scheduler", asked("a").served_by("other"),
       "no profile of the configuration serves schedulerName \"other\""},
      {"one that is bound", asked("a").on("elsewhere"), "it is on node elsewhere already"},
      {"one that is bound here", asked("a").on("n"), "it is on node n already"},
      {"one that has finished", asked("a").on("n").finished(), "it has finished (status.phase)"},
      {"one that ends", asked("a").terminating(),
       "it is being deleted (metadata.deletionTimestamp)"},
      {"one with a gate", asked("a").gated("example.com/wait"),
       "Scheduling is blocked due to non-empty scheduling gates"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(told({c.pod}) == std::map<std::string, std::string>{{"a", c.want}});
    }
  }
}

TEST_CASE("what-if tells pods of one name in several namespaces apart") {
  const auto outcomes =
      told({asked("same").in_namespace("a"), asked("same").in_namespace("b").served_by("other")});
  CHECK(outcomes ==
        std::map<std::string, std::string>{
            {"a/same", "n"},
            {"b/same", "no profile of the configuration serves schedulerName \"other\""}});
}

TEST_CASE("what-if takes no pod twice, and some") {
  struct Case {
    std::string name;
    std::vector<k8s::Pod> pods;
    std::string want;  // "": taken
  };
  const std::vector<Case> cases = {
      {"none", {}, "the files have no pods"},
      {"one name in two namespaces", {asked("a"), asked("a").in_namespace("b")}, ""},
      {"one twice", {asked("a"), asked("a").uid("2")}, "pod \"default/a\" is given twice"},
      {"one uid twice",
       {asked("a"), asked("b").uid("a")},
       "pod \"default/b\" has the uid of another: a"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto checked = check_pods(c.pods);
      CHECK((checked ? "" : checked.error().message) == c.want);
    }
  }
}

}  // namespace
}  // namespace bench
