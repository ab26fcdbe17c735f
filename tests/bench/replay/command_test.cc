// Options that do not go together are refused, not left without effect.
#include "bench/replay/command.h"

#include "tests/support/catch.h"
#include "tests/support/command_line.h"

#include <string>
#include <utility>
#include <vector>

namespace {

// What is wrong with the arguments; only those that are wrong are tried, since others run.
std::string complaint(std::vector<std::string> arguments) {
  CLI::App app("bench", "bench");
  int exit_code = 0;
  bench::replay::add_command(app, {"bench"}, exit_code);
  arguments.insert(arguments.begin(), "replay");
  return tests::complaint_of(app, std::move(arguments));
}

}  // namespace

TEST_CASE("options that do not go together") {
  struct Case {
    std::vector<std::string> arguments;
    const char* complaint;
  };
  const std::vector<Case> cases = {
      {{}, "--nodes and --pods, or --recording, or --merge, is required"},
      {{"--nodes", "n"}, "--nodes requires --pods"},
      {{"--pods", "p"}, "--pods requires --nodes"},
      {{"--nodes", "n", "--pods", "p", "--recording", "r"}, "excludes"},
      {{"--nodes", "n", "--pods", "p", "--decisions"}, "--decisions requires --out"},
      {{"--nodes", "n", "--pods", "p", "--snapshots", "50"}, "--snapshots requires --out"},
      {{"--nodes", "n", "--pods", "p", "--life", "trace"}, "stationary"},
      {{"--nodes", "n", "--pods", "p", "--when-full", "burn"}, "--when-full"},
      {{"--nodes", "n", "--pods", "p", "--format", "pdf"}, "--format"},
      {{"--recording", "r", "--policy", "fgd", "--arrival", "trace"},
       "--arrival excludes --recording"},
      {{"--nodes", "n", "--pods", "p", "--jobs", "-1"}, "--jobs"},
      {{"--nodes", "n", "--pods", "p", "--jobs", "18446744073709551616"}, "--jobs"},
      {{"--recording", "r", "--out", "o"}, "--out requires --policy"},
      {{"--recording", "r", "--seed", "1"}, "--seed requires --policy"},
      {{"--nodes", "n", "--pods", "p", "--share", "0/2"}, "--share requires --out"},
      {{"--nodes", "n", "--pods", "p", "--share", "0/2", "--out", "o", "--decisions"},
       "--decisions excludes --share"},
      {{"--nodes", "n", "--pods", "p", "--share", "0/2", "--out", "o", "--fail-if", "refused>1"},
       "--fail-if requires --merge"},
      {{"--recording", "r", "--policy", "fgd", "--share", "0/2", "--out", "o"},
       "--recording excludes --share"},
      {{"--merge", "d", "--nodes", "n", "--pods", "p"}, "--nodes excludes --merge"},
      {{"--merge", "d", "--seed", "1"}, "--seed excludes --merge"},
      {{"--merge", "d", "--share", "0/2", "--out", "o"}, "--share excludes --merge"},
  };
  for (const Case& c : cases) {
    INFO(c.complaint);
    CHECK_THAT(complaint(c.arguments), Catch::Contains(c.complaint));
  }
}

TEST_CASE("a report has the command that gives the same results") {
  CHECK(bench::replay::same_results({"bench", "replay", "--out", "a", "--nodes", "n", "--share=1/2",
                                     "--jobs", "2", "--seed", "1..2"}) ==
        "bench replay --nodes n --seed 1..2");
}
