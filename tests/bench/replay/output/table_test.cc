#include "bench/replay/output/table.h"

#include "bench/replay/output/csv.h"
#include "tests/support/catch.h"

#include <sstream>

using bench::replay::PolicyMeans;
using bench::replay::Result;
using bench::replay::TableFormat;

namespace {

PolicyMeans means(const std::string& policy, double unallocated) {
  PolicyMeans means;
  means.trace = "t";
  means.policy = policy;
  means.tie_break = "first-node";
  means.arrival = "inflate:130";
  means.runs = 2;
  means.figures["unallocated"] = {unallocated, 0.125};
  means.figures["fragmented"] = {1, 0};
  means.figures["refused"] = {20, 0};
  means.figures["refused_pods"] = {2'000, 10};
  means.seconds = 0.5;
  return means;
}

std::string table(const std::vector<PolicyMeans>& all, TableFormat format) {
  std::ostringstream out;
  bench::replay::write_table(out, all, format);
  return out.str();
}

}  // namespace

TEST_CASE("the table lines up") {
  PolicyMeans known = means("fgd", 4.5);
  known.published = {4.61, 0.08};
  CHECK(table({known, means("longer_name", 12)}, TableFormat::kText) == R"(
t, arrival inflate:130
  policy       tie-break   runs  unallocated %  published %  fragmented %  refused GPU %  refused pods  CPU s/run
  fgd          first-node  2     4.50 ± 0.12    4.61 ± 0.08  1.00 ± 0.00   20.00 ± 0.00   2000 ± 10     0.25
  longer_name  first-node  2     12.00 ± 0.12   –            1.00 ± 0.00   20.00 ± 0.00   2000 ± 10     0.25
)");
}

TEST_CASE("the table as Markdown, with a queue") {
  PolicyMeans streamed = means("fgd", 4.5);
  streamed.over_time = true;
  streamed.runs = 1;
  streamed.figures["refused_pods"] = {0, 0};
  streamed.figures["gpu_hours_waited"] = {250.4, 0};
  streamed.figures["wait_mean"] = {12.4, 0};
  streamed.figures["wait_max"] = {70, 0};
  streamed.figures["wait_p99"] = {61.5, 0};
  streamed.figures["waiting_pods"] = {7, 0};
  CHECK(table({streamed}, TableFormat::kMarkdown) == R"(
**t**, arrival inflate:130

| policy | tie-break | runs | unallocated % | fragmented % | waiting GPU % | waiting pods | GPU·h waited | wait mean s | wait p99 s | CPU s/run |
|---|---|---|---|---|---|---|---|---|---|---|
| fgd | first-node | 1 | 4.50 | 1.00 | – | 7 | 250 | 12 | 62 | 0.50 |
)");
}

TEST_CASE("steps as CSV") {
  Result result;
  result.trace = "a \"b\", c";
  result.policy = "fgd";
  result.seed = 7;
  result.steps = {{.x = 99,
                   .arrivals = 12,
                   .allocated = 60,
                   .refused = 2.5,
                   .waiting = 3,
                   .free_by_cause = {1, 2, 30, 3, 4, 0, 0}}};
  std::ostringstream out;
  bench::replay::write_steps_csv(out, {result});
  CHECK(out.str() ==
        "trace,policy,seed,x,x_unit,arrivals,allocated,fragmented,refused,waiting,"
        "q1_lack_both,q2_lack_gpu,q3_satisfied,q4_lack_cpu,xl_satisfied,xr_lack_cpu,no_access\n"
        "\"a \"\"b\"\", c\",fgd,7,99,percent,12,60.0000,10.0000,2.5000,3,"
        "1.0000,2.0000,30.0000,3.0000,4.0000,0.0000,0.0000\n");
}
