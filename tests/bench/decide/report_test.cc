// What bench decide prints of its figures.
#include "bench/decide/report.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

using namespace bench::decide;

namespace {

Figures small_run() {
  return {.scenario = {.nodes = 20, .shapes = 1, .pods = 50},
          .pods_per_second = 1'000,
          .decisions_per_second = 954'480.4,
          .p50_ns = 900,
          .p99_ns = 1'800,
          .refused_share = 0,
          .bound = 107};
}

Figures large_run() {
  return {.scenario = {.nodes = 1'000'000,
                       .shapes = 100,
                       .warm_up = 7,
                       .pods = 50'000,
                       .waiting = 10'000,
                       .waiting_for = WaitingFor::kQuota},
          .pods_per_second = 40'802,
          .decisions_per_second = 92'646,
          .p50_ns = 8'000,
          .p99_ns = 123'456'789,
          .refused_share = 0.01234,
          .bound = 5'000'000,
          .gpu_load = 0.875,
          .bytes_per_node = 3'300,
          .bytes_per_pod = 700,
          .bytes_per_shape = 12'345'678'901};
}

}  // namespace

TEST_CASE("figures are a row for each run, in columns, with units in the header") {
  CHECK(to_table(std::vector<Figures>{small_run(), large_run()}) ==
        "    NODES  SHAPES            WAITING  DECISIONS/s  P50 ns       P99 ns  "
        "PODS/s, ALL EVENTS  REFUSED %  PODS ON NODES  BYTES/NODE  BYTES/POD     BYTES/SHAPE\n"
        "       20       1                  0      954,480     900        1,800  "
        "             1,000       0.00            107           –          –               –\n"
        "1,000,000     100  10,000 over quota       92,646   8,000  123,456,789  "
        "            40,802       1.23      5,000,000       3,300        700  12,345,678,901\n");
}

TEST_CASE("pods that wait in quotas are shown as such") {
  Figures run = small_run();
  run.scenario.quotas = 100;
  run.scenario.shapes = 10;
  CHECK(to_line(run) == "NODES 20, SHAPES 10, WAITING 1,000 in 100 quotas, DECISIONS/s 954,480");
}

TEST_CASE("trials are a row for each run") {
  const std::vector<TrialRun> runs = {
      {.nodes = 1'000,
       .shapes = 10,
       .figures = {.pods = 2'345, .trials = 300'000, .helped = 100'000, .cpu_seconds = 0.15}},
      {.nodes = 100'000, .shapes = 10, .figures = {}}};
  CHECK(to_table(runs) ==
        "  NODES  SHAPES  PODS ON NODES   TRIALS/s  A NODE MORE TOOK THE POD %\n"
        "  1,000      10          2,345  2,000,000                        33.3\n"
        "100,000      10              0          0                         0.0\n");
  CHECK(to_line(runs.front()) == "NODES 1,000, SHAPES 10, PODS ON NODES 2,345, TRIALS/s 2,000,000");
}

TEST_CASE("rules are a row for each run, with the rule in words") {
  const std::vector<RuledRun> runs = {
      {.nodes = 5'000, .rule = 0, .pods = 5'000, .figures = {.bound = 5'000, .cpu_seconds = 0.5}},
      {.nodes = 5'000, .rule = 8, .pods = 50, .figures = {.bound = 40, .cpu_seconds = 0.5}}};
  CHECK(to_table(runs) ==
        "NODES  PODS                                           BOUND  DECISIONS/s\n"
        "5,000  plain pods                                     5,000       10,000\n"
        "5,000  a bound CSI volume each, 39 to a node at most     40          100\n");
}

TEST_CASE("pods that evict are a row for each run") {
  const std::vector<PreemptingRun> runs = {
      {.nodes = 5'000,
       .preemptor = 0,
       .pods = 100,
       .figures = {.evicted = 300, .found = 100, .cpu_seconds = 0.5, .longest_seconds = 0.01}},
      {.nodes = 5'000, .preemptor = 1, .pods = 100, .figures = {.cpu_seconds = 0.25}}};
  CHECK(to_table(runs) ==
        "NODES  PODS                                     EVICT  MS EACH  LONGEST MS\n"
        "5,000  evict three of seven pods                  100    5.000      10.000\n"
        "5,000  would need more than may go, everywhere      0    2.500       0.000\n");
}

TEST_CASE("crowds are a row for each run, and µ is as wide as any letter") {
  const std::vector<CrowdRun> runs = {
      {.nodes = 5'000, .crowd = 0, .figures = {.bound = 300, .mean_us = 12}},
      {.nodes = 5'000,
       .crowd = 1,
       .figures = {.bound = 300,
                   .came_seconds = 1.234,
                   .behind_seconds = 0.5,
                   .mean_us = 1'234,
                   .median_us = 1'000,
                   .longest_us = 1'234'567'890'123'456,
                   .held_bytes = 5'000'000}}};
  CHECK(to_table(runs) ==
        "NODES  ANOTHER TENANT'S PODS               THEY CAME IN s  BEHIND IT s  "
        "A NEIGHBOUR'S TURN µs  HALF WITHIN µs         99 % WITHIN µs  HEAP MB  BOUND\n"
        "5,000  nobody                                        0.00        0.000  "
        "                   12  "
        "             0                      0        0    300\n"
        "5,000  pods of one shape that fit nowhere            1.23        0.500  "
        "                1,234  "
        "         1,000  1,234,567,890,123,456        5    300\n");
}

TEST_CASE("no run is no table, and a list without runs") {
  CHECK(to_table(std::vector<Figures>{}).empty());
  CHECK(to_table(std::vector<CrowdRun>{}).empty());
  CHECK_THAT(to_json(std::vector<Figures>{}), Catch::EndsWith("\",\n  \"runs\": []\n}\n"));
}

// Scripts read it.
TEST_CASE("the JSON of figures is what it always was") {
  const std::string text = to_json(std::vector<Figures>{large_run()});
  CHECK_THAT(text, Catch::StartsWith("{\n  \"compiler\": \""));
  CHECK_THAT(text, Catch::EndsWith(R"(",
  "runs": [
    {
      "nodes": 1000000,
      "shapes": 100,
      "waiting": 10000,
      "waiting_for": "quota",
      "quotas": 0,
      "warm_up": 7,
      "pods": 50000,
      "load": 0.9,
      "seed": 1,
      "decisions_per_second": 92646.0,
      "p50_ns": 8000,
      "p99_ns": 123456789,
      "pods_per_second": 40802.0,
      "refused_share": 0.01234,
      "bound": 5000000,
      "gpu_load": 0.875,
      "bytes_per_node": 3300.0,
      "bytes_per_pod": 700.0,
      "bytes_per_shape": 12345678901.0
    }
  ]
}
)"));
}

TEST_CASE("the JSON of the other runs has their names") {
  CHECK_THAT(to_json(std::vector<TrialRun>{{.nodes = 7, .shapes = 2}}),
             Catch::Contains("\"trials_per_second\": 0.0"));
  CHECK_THAT(to_json(std::vector<RuledRun>{{.nodes = 7, .rule = 8}}),
             Catch::Contains("\"rule\": \"volume\""));
  CHECK_THAT(to_json(std::vector<CrowdRun>{{.nodes = 7, .crowd = 1}}),
             Catch::Contains("\"crowd\": \"alike\""));
  CHECK_THAT(to_json(std::vector<PreemptingRun>{{.nodes = 7, .preemptor = 1}}),
             Catch::Contains("\"preemptor\": \"in-vain\""));
}
