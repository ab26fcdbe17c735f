#include "bench/replay/report/report.h"

#include "tests/bench/replay/report/html_outline.h"
#include "tests/bench/replay/report/results.h"
#include "tests/support/catch.h"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace sched::server {

extern const std::string_view kUplotScript;

}  // namespace sched::server

namespace bench::replay {
namespace {

std::string page_of(const std::vector<Trace>& traces, const std::vector<Result>& results,
                    const std::string& title = "Replay",
                    const std::string& command = "bench replay") {
  std::ostringstream out;
  write_report(out, Report{title, command, traces, results});
  return out.str();
}

bool has(const std::string& page, std::string_view text) {
  return page.find(text) != std::string::npos;
}

// FGD over three seeds and usable_gpu over one on the default trace.
struct Default {
  std::vector<Trace> traces{made_trace("openb_pod_list_default", 30)};
  std::vector<Result> results;

  Default() {
    for (const std::uint64_t seed : {42U, 43U, 44U}) {
      results.push_back(filled_result(traces[0], "fgd", seed, 4.7));
    }
    results.push_back(filled_result(traces[0], "usable_gpu", 42, 3.9));
  }
};

TEST_CASE("the report is well-formed") {
  const Default given;
  const Trace& trace = given.traces.front();
  struct Case {
    std::string name;
    std::vector<Result> results;
  };
  const std::vector<Case> cases{
      {"nothing was run", {}},
      {"one run", {filled_result(trace, "fgd", 42, 4.7)}},
      {"policies and seeds", given.results},
      {"over time", {result_over_time(trace, "fgd", 42, 72, 94)}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const std::string page = page_of(given.traces, c.results);
    CHECK(tag_fault(page).empty());
    CHECK(page.starts_with("<!DOCTYPE html>"));
    CHECK(page.ends_with("</html>\n"));
  }
}

TEST_CASE("the check of tags finds faults") {
  CHECK(tag_fault("<p>a<b>c</p>") == "</p> closes <b>");
  CHECK(tag_fault("<p>a") == "<p> is not closed");
  CHECK(tag_fault("</p>") == "</p> closes nothing");
  CHECK(tag_fault("<p class=\"a>b\"><br>x<path d=\"M0\"/></p>").empty());
  CHECK(tag_fault("<script>a < b</script>").empty());
}

TEST_CASE("the report needs nothing from elsewhere") {
  const Default given;
  std::string page = page_of(given.traces, given.results);
  // uPlot names its home in a comment.
  page.erase(page.find(sched::server::kUplotScript), sched::server::kUplotScript.size());
  for (const std::string_view reference :
       {"http:", "https:", "src=", "url(", "@import", "import(", "fetch("}) {
    CAPTURE(reference);
    CHECK_FALSE(has(page, reference));
  }
}

TEST_CASE("names of a trace cannot become markup") {
  const std::string evil = "</script><script>alert(\"x\")</script><img onerror='y'>&";
  std::vector<Trace> traces{made_trace(evil, 6)};
  for (k8s::Node& node : traces[0].nodes) {
    node.metadata.name = evil;
    node.metadata.labels.set("nvidia.com/gpu.product", evil);
  }
  traces[0].counts[evil] = 3;
  Result result = result_over_time(traces[0], evil, 42, 10, 95);
  result.tie_break = evil;
  result.arrival = evil;
  result.by_namespace[evil] = GroupUse{};
  result.by_product[evil] = GroupUse{};
  for (Snapshot& snapshot : result.snapshots) snapshot.title = evil;
  for (RefusedKind& refused : result.refused) refused = {evil, 1, 1, evil, evil, evil};
  const std::string page = page_of(traces, {result, result}, evil, evil);
  CHECK(tag_fault(page).empty());
  CHECK_FALSE(has(page, "<script>alert"));
  CHECK_FALSE(has(page, "<img"));
  CHECK_FALSE(has(page, "alert(\"x\")</script>"));
  CHECK(has(page, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"));
}

TEST_CASE("the report shows figures over seeds beside the published ones") {
  Default given;
  const double unallocated[] = {4.6, 4.7, 4.8};
  for (std::size_t i = 0; i < 3; ++i) given.results[i].figures["unallocated"] = unallocated[i];
  given.results[3].figures["unallocated"] = 3.85;
  const std::string page = page_of(given.traces, given.results);
  CHECK(has(page, ">4.70 ± 0.08<"));                                  // over three seeds
  CHECK(has(page, ">4.61 ± 0.08<"));                                  // FGD as published
  CHECK(has(page, "<td class=\"best\">3.85</td>"));                   // one seed: no deviation
  CHECK(has(page, "\"fragmentation gradient descent, published\""));  // its curve
  CHECK(has(page, "549 of model G2 have at most 7"));                 // why pods were refused
  CHECK(has(page, "openb-node-0007"));
  CHECK_FALSE(has(page, "<h3>How long pods waited</h3>"));
}

TEST_CASE("maps hold every GPU of the chosen moments") {
  const std::vector<Trace> traces{made_trace("mine", 2)};
  Result result = filled_result(traces[0], "fgd", 42, 4);
  Snapshot snapshot;
  snapshot.title = "at the end";
  snapshot.nodes = {{.devices = {0, 0, 0, 1000}, .cpu = 0.5}, {.devices = {460}, .cpu = 1}};
  result.snapshots = {snapshot};
  const std::string page = page_of(traces, {result});
  CHECK(has(page, R"("gpus":[4,1])"));
  CHECK(has(page, R"({"title":"at the end","gpus":".B#cs","cpu":"dwrs"})"));
  // For readers who cannot see the map: T4 is the first node's model, G2 the second's.
  CHECK(has(page, "<th scope=\"row\">T4</th><td>3 / 0 / 1</td>"));
  CHECK(has(page, "<th scope=\"row\">G2</th><td>0 / 1 / 0</td>"));
}

TEST_CASE("a map has the GPUs of nodes that have more or fewer by then") {
  const std::vector<Trace> traces{made_trace("mine", 2)};
  Result result = filled_result(traces[0], "fgd", 42, 4);
  Snapshot snapshot;
  snapshot.title = "a";
  snapshot.nodes = {{.devices = {}, .cpu = 0}, {.devices = {1000, 0}, .cpu = 0}};
  result.snapshots = {snapshot};
  snapshot.title = "b";
  snapshot.nodes[0].devices = {0};
  result.snapshots.push_back(snapshot);
  const std::string page = page_of(traces, {result});
  CHECK(has(page, R"("gpus":[0,2]})"));
  CHECK(has(page, R"({"title":"a","gpus":"#.","cpu":"0000"})"));
  CHECK(has(page, R"({"title":"b","gpus":".#.","cpu":"0000","counts":[1,2]})"));
}

TEST_CASE("a map of a moment before a node came has the others") {
  const std::vector<Trace> traces{made_trace("mine", 2)};
  Result result = filled_result(traces[0], "fgd", 42, 4);
  Snapshot snapshot;
  snapshot.title = "a";
  snapshot.nodes = {{.devices = {1000}, .cpu = 0}};
  result.snapshots = {snapshot};
  snapshot.title = "b";
  snapshot.nodes.push_back({.devices = {0, 0}, .cpu = 0});
  result.snapshots.push_back(snapshot);
  const std::string page = page_of(traces, {result});
  CHECK(has(page, R"("gpus":[1,0]})"));
  CHECK(has(page, R"({"title":"a","gpus":"#","cpu":"00"})"));
  CHECK(has(page, R"({"title":"b","gpus":"#.A","cpu":"0000","counts":[1,2]})"));
}

TEST_CASE("published curves are shown only beside what they can be compared with") {
  const std::vector<Trace> traces{made_trace("openb_pod_list_default", 6), made_trace("mine", 6)};
  CHECK_FALSE(has(page_of(traces, {filled_result(traces[1], "fgd", 42, 4)}),
                  "published"
                  " unallocated"));
  CHECK_FALSE(has(page_of(traces, {result_over_time(traces[0], "fgd", 42, 9, 95)}),
                  "published unallocated"));
  // A policy without published results is still shown beside the reference.
  CHECK(has(page_of(traces, {filled_result(traces[0], "mine", 42, 4)}),
            "\"fragmentation gradient descent, published\""));
}

TEST_CASE("a page of an interrupted replay says that runs are missing") {
  const Default given;
  for (const bool interrupted : {false, true}) {
    std::ostringstream out;
    write_report(out, {.title = "Replay",
                       .command = "bench replay",
                       .traces = given.traces,
                       .results = given.results,
                       .interrupted = interrupted});
    CHECK(has(out.str(), "runs that had not finished are missing") == interrupted);
  }
}

TEST_CASE("the report over time shows waits") {
  const std::vector<Trace> traces{made_trace("mine", 6)};
  Result result = result_over_time(traces[0], "fgd", 42, 72, 94);
  result.waits_by_size = {{.size = "1 GPU", .pods = 9, .gpu_hours = 0, .p50 = 0, .p99 = 0},
                          {.size = "8 GPUs", .pods = 3, .gpu_hours = 4321, .p50 = 60, .p99 = 7200}};
  const std::string page = page_of(traces, {result});
  CHECK(has(page, "<h3>How long pods waited</h3>"));
  CHECK(has(page, "hours since the start"));
  CHECK(has(page, "<th scope=\"row\">8 GPUs</th><td>4,321 <small>2 hours</small></td>"));
  CHECK_FALSE(has(page, "<th scope=\"row\">1 GPU</th>"));
  CHECK(has(page, ">Waiting pods<"));
  // As in Result::by_namespace.
  CHECK(has(page, "how long they waited, on average (those that still wait: until the end)"));
}

TEST_CASE("the use of a quota is averaged over time, however often it was recorded") {
  const std::vector<Trace> traces{made_trace("mine", 6)};
  Result result = result_over_time(traces[0], "fgd", 42, 72, 94);
  const auto step = [](double hours, double used) {
    return QuotaStep{.x = hours, .quota = "q", .gpu_type = "L4", .guaranteed = 8, .used = used};
  };
  result.quota_steps = {step(0, 8), step(1, 4), step(2, 0), step(72, 0)};
  // 12 GPU-hours in 72 hours.
  CHECK(has(page_of(traces, {result}), "<td>0.2 <small>(0.0 borrowed)</small>; 0.0; 0.0</td>"));
  result.quota_steps = {step(1, 8)};
  CHECK(has(page_of(traces, {result}), "<td>8.0 <small>(0.0 borrowed)</small>; 0.0; 0.0</td>"));
}

TEST_CASE("a plot of nothing is left out") {
  const std::vector<Trace> traces{made_trace("mine", 6)};
  Result result = result_over_time(traces[0], "fgd", 42, 72, 94);
  result.waits.assign(result.waits.size(), 0);
  for (Step& step : result.steps) {
    step.waiting = 0;
    step.refused = 0;
    step.free_by_cause = {};
  }
  const std::string page = page_of(traces, {result});
  CHECK(has(page, "No pod waited: each was placed, or refused, as soon as it came."));
  CHECK(has(page, ">Allocated GPU over time<"));
  for (const char* title : {">Waiting pods<", ">Refused GPU<", ">Fragmented GPU<"}) {
    CAPTURE(title);
    CHECK_FALSE(has(page, title));
  }
}

TEST_CASE("the verdict comes first, with the figures of the table") {
  const std::vector<Trace> traces{made_trace("mine", 6)};
  std::vector<Result> results{result_over_time(traces[0], "default", 42, 72, 94),
                              result_over_time(traces[0], "best_fit", 42, 72, 95)};
  results[0].figures["gpu_hours_waited"] = 18431.2;
  results[1].figures["gpu_hours_waited"] = 11228.4;
  for (Result& result : results) result.figures["wait_p99"] = 109769;
  const std::string page = page_of(traces, results);
  const std::size_t said = page.find(
      "best fit kept GPUs waiting least: 11,228 GPU-hours, and 99 of 100 pods waited 1.3 days at "
      "most. Then: the default policy 18,431 (1.3 days).");
  REQUIRE(said != std::string::npos);
  CHECK(said < page.find("<table"));
  CHECK(has(page, "<td class=\"best\">11,228</td>"));
  CHECK(has(page, "<td>18,431</td>"));
  CHECK(has(page, ">1.3 days</td>"));
  // Which policy left less unallocated says nothing where pods wait.
  CHECK_FALSE(has(page, "<td class=\"best\">5."));
}

TEST_CASE("figures' own names are in the folded table alone") {
  const Default given;
  const std::string page = page_of(given.traces, given.results);
  const std::size_t folded = page.find("All figures, by their names for --fail-if");
  REQUIRE(folded != std::string::npos);
  CHECK(page.find("unallocated_at_100") > folded);
  for (const char* code : {"(q1)", "(q2)", "(q3)", "(q4)", "(xl)", "(xr)", "q2_lack_gpu"}) {
    CAPTURE(code);
    CHECK_FALSE(has(page, code));
  }
}

TEST_CASE("the report draws with the live page's uPlot, whose licence is in it") {
  const Default given;
  const std::string page = page_of(given.traces, given.results);
  CHECK(has(page, sched::server::kUplotScript));
  CHECK(has(page, "Copyright (c) 2022 Leon Sorokin"));
  CHECK(has(page, "The above copyright notice and this permission notice shall be included"));
  CHECK_FALSE(has(page, "<svg"));
}

TEST_CASE("many policies and seeds stay below three megabytes") {
  std::vector<Trace> traces;
  std::vector<Result> results;
  for (int t = 0; t < 3; ++t) {
    traces.push_back(made_trace("trace " + std::to_string(t), 1213));
    for (int p = 0; p < 12; ++p) {
      for (std::uint64_t seed = 42; seed < 52; ++seed) {
        results.push_back(filled_result(traces.back(), "policy " + std::to_string(p), seed, 4 + p));
      }
    }
  }
  const std::string page = page_of(traces, results);
  CHECK(page.size() < 3'000'000);
  CHECK(tag_fault(page).empty());
  CHECK(page == page_of(traces, results));
}

}  // namespace
}  // namespace bench::replay
