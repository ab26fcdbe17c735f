// What the demo tells, and what it takes for success.
#include "bench/demo/expected.h"
#include "bench/demo/outcome_table.h"
#include "bench/demo/scores_text.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace bench {
namespace {

std::string written(const std::string& name, const std::string& text) {
  std::string file = tests::scratch_dir() + "/" + name;
  std::ofstream(file) << text;
  return file;
}

Outcome bound(const std::string& pod, const std::string& node) {
  return {.pod = pod, .node = node, .scores = "1 = A 1·1", .message = {}};
}

Outcome waiting(const std::string& pod, const std::string& message) {
  return {.pod = pod, .node = {}, .scores = {}, .message = message};
}

TEST_CASE("differences name each pod that is not where it should be") {
  const std::vector<ExpectedPod> expected = {
      {.name = "a", .node = "n1", .waits = {}},
      {.name = "b", .node = {}, .waits = {"2 Insufficient cpu", "asked 4"}}};
  struct Case {
    std::string name;
    std::vector<Outcome> outcomes;
    std::vector<std::string> want;
  };
  const std::vector<Case> cases = {
      {"as it should be", {bound("a", "n1"), waiting("b", "2 Insufficient cpu. asked 4 of 2")}, {}},
      {"wrong node",
       {bound("a", "n2"), waiting("b", "2 Insufficient cpu. asked 4")},
       {"a is on n2 and should be on n1"}},
      {"bound instead of waiting",
       {bound("a", "n1"), bound("b", "n1")},
       {"b is on n1 and should be waiting"}},
      {"another reason",
       {bound("a", "n1"), waiting("b", "2 Insufficient cpu")},
       {"b waits with \"2 Insufficient cpu\", which lacks \"asked 4\""}},
      {"missing and unexpected",
       {bound("a", "n1"), bound("c", "n1")},
       {"b was never decided", "c was not expected"}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) { CHECK(differences(expected, c.outcomes) == c.want); }
  }
}

TEST_CASE("the shipped expectations can be read and name every example") {
  const std::string root = tests::source_dir();
  const std::map<std::string, std::size_t> files{
      {"expected.yaml", 13}, {"gpus/expected.yaml", 7}, {"two-pools/expected.yaml", 6}};
  for (const auto& [file, pods] : files) {
    INFO(file);
    const auto expected = load_expected(root + "/bench/demo/" + file);
    REQUIRE(expected.has_value());
    CHECK(expected->size() == pods);
  }
}

TEST_CASE("bad expectations are refused with their line") {
  const auto both =
      load_expected(written("both.yaml", "pods:\n  - {name: a, node: n1, waits: [x]}\n"));
  REQUIRE_FALSE(both.has_value());
  CHECK(both.error().message.find("both.yaml:2: ") != std::string::npos);
  const auto unknown = load_expected(written("unknown.yaml", "pods: []\nextra: 1\n"));
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().message.find("extra") != std::string::npos);
}

TEST_CASE("the closing table lists bound pods before waiting ones, wrapped") {
  std::ostringstream out;
  print_table(out, {waiting("late", "one two three four five six seven eight"), bound("a", "n1")},
              30);
  CHECK(out.str() ==
        "\nPOD   NODE  SCORE\n"
        "a     n1    1 = A 1·1\n"
        "\nPOD   WAITS BECAUSE\n"
        "late  one two three four five\n"
        "      six seven eight\n");
}

TEST_CASE("scores name what each plugin gave") {
  sched::decision::Bind bind;
  bind.total_score = 260;
  bind.scores = {{"GpuPacking", 25, 10}, {"NodeAffinity", 0, 20}, {"NodeResourcesFit", 10, 1}};
  bind.feasible_nodes = 2;
  bind.all_nodes = 8;
  CHECK(scores_text(bind) == "260 = GpuPacking 25·10 + NodeResourcesFit 10·1; 2 of 8 nodes fit");
}

}  // namespace
}  // namespace bench
