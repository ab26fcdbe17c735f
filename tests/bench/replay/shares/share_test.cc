// What the files of shares hold is read as it was written, and what is no share is refused.
#include "bench/replay/shares/share.h"

#include "bench/replay/shares/digest.h"
#include "bench/replay/shares/run_json.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <cmath>
#include <limits>

using namespace bench::replay;

namespace {

StoredShare stored_share() {
  Trace trace;
  trace.name = "t";
  trace.counts = {{"nodes", 2}};
  trace.nodes = {tests::node("a").labelled("nvidia.com/gpu.product", "T4"), tests::node("b")};
  return {.share = {2, 8},
          .command = "bench replay",
          .study = {.version = "1",
                    .program = "p",
                    .shares = 8,
                    .options = {{"arrival", "trace"}},
                    .inputs = {{"--nodes", "n"}},
                    .runs = {"fgd on t, seed 1"},
                    .traces = {trace}}};
}

}  // namespace

TEST_CASE("the text of a share") {
  CHECK(parse_share("0/1")->text() == "0/1");
  CHECK(parse_share("7/8")->index == 7);
  for (const char* text : {"", "1", "8/8", "1/0", "-1/8", "1/8 ", "/", "1/8/2",
                           "$(JOB_COMPLETION_INDEX)/8", "0/100001"}) {
    INFO(text);
    const auto share = parse_share(text);
    REQUIRE_FALSE(share);
    CHECK_THAT(share.error().message, Catch::Contains("expected INDEX/COUNT"));
  }
}

TEST_CASE("a share is read as it was written") {
  const StoredShare written = stored_share();
  const auto read = share_of_json(share_as_json(written));
  REQUIRE(read);
  CHECK(read->share.text() == "2/8");
  CHECK(read->command == written.command);
  CHECK(read->study.difference_to(written.study).empty());
  CHECK(read->study.digest() == written.study.digest());
  const std::vector<k8s::Node>& nodes = read->study.traces[0].nodes;
  CHECK(nodes[0].metadata.name == "a");
  CHECK(*nodes[0].metadata.labels.find("nvidia.com/gpu.product") == "T4");
  CHECK(nodes[1].metadata.labels.empty());
  CHECK(share_as_json(*read) == share_as_json(written));
}

TEST_CASE("what differs between two studies") {
  struct Case {
    void (*change)(StudyOfShares&);
    const char* words;
  };
  const std::vector<Case> cases = {
      {[](StudyOfShares& s) { s.version = "2"; }, "version 2, not 1"},
      {[](StudyOfShares& s) { s.program = "q"; }, "another build of the program"},
      {[](StudyOfShares& s) { s.shares = 4; }, "4 shares, not 8"},
      {[](StudyOfShares& s) { s.options[0].second = "backlog"; }, "other options (arrival)"},
      {[](StudyOfShares& s) { s.options.emplace_back("until", "7d"); }, "other options (until)"},
      {[](StudyOfShares& s) { s.options.clear(); }, "other options (arrival)"},
      {[](StudyOfShares& s) { s.inputs[0].second = "m"; }, "other contents of --nodes"},
      {[](StudyOfShares& s) { s.runs.emplace_back("more"); }, "other runs"},
      {[](StudyOfShares& s) { s.traces[0].nodes.pop_back(); }, "other traces"},
  };
  for (const Case& c : cases) {
    INFO(c.words);
    StudyOfShares changed = stored_share().study;
    c.change(changed);
    CHECK(changed.difference_to(stored_share().study) == c.words);
    CHECK(changed.digest() != stored_share().study.digest());
  }
}

TEST_CASE("a run is read with every bit of its figures") {
  Result result;
  result.figures = {
      {"a", 0.1 + 0.2}, {"b", -0.0}, {"c", std::numeric_limits<double>::denorm_min()}};
  result.seed = std::numeric_limits<std::uint64_t>::max();
  result.waits = {1.0 / 3, 1e300};
  result.snapshots = {{.title = "at 50 %", .x = 50, .nodes = {{.devices = {0, 1000}, .cpu = 0.7}}}};
  const std::string text = run_as_json("study", 3, result);
  const auto read = run_of_json(text);
  REQUIRE(read);
  CHECK(read->study == "study");
  CHECK(read->run == 3);
  CHECK(read->result.figures == result.figures);
  CHECK(std::signbit(read->result.figures.at("b")));
  CHECK(read->result.seed == result.seed);
  CHECK(read->result.waits == result.waits);
  CHECK(run_as_json("study", 3, read->result) == text);
}

TEST_CASE("a text that was cut off is neither a share nor a run") {
  const std::string run = run_as_json("study", 0, {});
  const std::string share = share_as_json(stored_share());
  for (std::size_t size = 0; size + 1 < run.size(); ++size) {
    CHECK_FALSE(run_of_json(std::string_view(run).substr(0, size)));
  }
  for (std::size_t size = 0; size + 1 < share.size(); ++size) {
    CHECK_FALSE(share_of_json(std::string_view(share).substr(0, size)));
  }
  CHECK_FALSE(run_of_json(R"({"bench-replay-run": 2})"));
  CHECK_FALSE(run_of_json("[]"));
  CHECK_FALSE(share_of_json(run));
  StoredShare none = stored_share();
  none.study.shares = 0;
  CHECK_FALSE(share_of_json(share_as_json(none)));
}

TEST_CASE("digests are those of sha256sum") {
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of_this_program()->size() == 64);
  const auto absent = sha256_of_file("/nowhere");
  REQUIRE_FALSE(absent);
  CHECK_THAT(absent.error().message, Catch::StartsWith("/nowhere: cannot be read: No such file"));
  CHECK_FALSE(sha256_of_file("/"));
}
