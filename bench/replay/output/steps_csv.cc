#include "bench/replay/output/steps_csv.h"

#include "bench/replay/output/csv_field.h"

#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <ostream>
#include <string>

namespace bench::replay {
void write_steps_csv(std::ostream& out, const std::vector<Result>& results) {
  fmt::print(out, "trace,policy,seed,x,x_unit,arrivals,allocated,fragmented,refused,waiting,{}\n",
             fmt::join(kCauseNames, ","));
  for (const Result& run : results) {
    const std::string head =
        fmt::format("{},{},{}", csv_field(run.trace), csv_field(run.policy), run.seed);
    for (const Step& step : run.steps) {
      fmt::print(out, "{},{:g},{},{},{:.4f},{:.4f},{:.4f},{}", head, step.x,
                 run.over_time ? "hours" : "percent", step.arrivals, step.allocated,
                 step.fragmented(), step.refused, step.waiting);
      for (const double share : step.free_by_cause) fmt::print(out, ",{:.4f}", share);
      out << '\n';
    }
  }
}

}  // namespace bench::replay
