// What bench decide takes on its command line, and what it does with the file for the figures.
#include "bench/decide/command.h"

#include "bench/decide/decide.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/command_line.h"
#include "tests/support/paths.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

// What is wrong with the arguments; only those that are wrong are tried, since others run.
std::string complaint(std::vector<std::string> arguments) {
  CLI::App app("decide", "decide");
  int exit_code = 0;
  bench::decide::configure(app, plugins::registry(), exit_code);
  return tests::complaint_of(app, std::move(arguments));
}

std::string content_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("What bench decide cannot measure is refused") {
  struct Case {
    std::vector<std::string> arguments;
    const char* want;
  };
  const std::vector<Case> cases = {
      {{"--load", "nan"}, "nan is not a number"},
      {{"--load", "1.5"}, "1.5"},
      {{"--pods", "0"}, "0 not in range"},
      {{"--seed", "-1"}, "-1"},
      {{"--waiting-for", "x", "--waiting", "5"}, "x not in {nodes,quota}"},
      {{"--waiting-for", "quota"}, "--waiting-for requires --waiting"},
      {{"--quotas", "3", "--waiting", "5"}, "excludes"},
      {{"-o", "yaml"}, "yaml not in {table,json}"},
  };
  for (const Case& each : cases) {
    INFO(each.want);
    CHECK_THAT(complaint(each.arguments), Catch::Contains(each.want));
  }
}

TEST_CASE("Figures of an earlier run outlive one that cannot be made") {
  const std::string file = tests::scratch_dir() + "/decide.json";
  std::ofstream(file) << "earlier";
  std::ostringstream out;
  std::ostringstream err;
  CHECK(bench::decide::run({.json = file, .config = "/no/such/file"}, plugins::registry(), out,
                           err) == 2);
  CHECK(out.str().empty());
  CHECK_THAT(err.str(), Catch::Contains("/no/such/file"));
  CHECK(content_of(file) == "earlier");
  std::remove(file.c_str());
}

TEST_CASE("bench decide prints what the file for the figures gets") {
  const std::string file = tests::scratch_dir() + "/decide-copy.json";
  std::ostringstream out;
  std::ostringstream err;
  for (const std::size_t trials : {0U, 5U}) {
    out.str("");
    CHECK(bench::decide::run({.nodes = {20},
                              .shapes = {1},
                              .warm_up = 0,
                              .pods = 10,
                              .trials = trials,
                              .json = file},
                             plugins::registry(), out, err) == 0);
    CHECK_THAT(out.str(), Catch::Contains(trials > 0 ? "trials_per_second" : "p99_ns"));
    CHECK(out.str() == content_of(file));
  }
  CHECK(err.str().empty());
  std::remove(file.c_str());
}

TEST_CASE("Figures of bench decide that could not be written are an error") {
  std::ostringstream out;
  std::ostringstream err;
  CHECK(bench::decide::run(
            {.nodes = {10}, .shapes = {1}, .warm_up = 0, .pods = 10, .json = "/dev/full"},
            plugins::registry(), out, err) == 2);
  CHECK(err.str() == "decide: --json: cannot write /dev/full\n");

  std::ofstream full("/dev/full");
  err.str("");
  CHECK(bench::decide::run({.nodes = {10}, .shapes = {1}, .warm_up = 0, .pods = 10},
                           plugins::registry(), full, err) == 2);
  CHECK(err.str() == "decide: the figures could not be written\n");
}
