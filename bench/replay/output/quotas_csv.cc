#include "bench/replay/output/quotas_csv.h"

#include "bench/replay/output/csv_field.h"

#include <fmt/ostream.h>

#include <ostream>

namespace bench::replay {

void write_quotas_csv(std::ostream& out, const std::vector<Result>& results) {
  fmt::print(out,
             "trace,policy,seed,x,x_unit,quota,gpu_type,guaranteed,used,borrowed,lent,pending\n");
  for (const Result& run : results) {
    for (const QuotaStep& step : run.quota_steps) {
      fmt::print(out, "{},{},{},{:g},{},{},{},{:g},{:g},{:g},{:g},{:g}\n", csv_field(run.trace),
                 csv_field(run.policy), run.seed, step.x, run.over_time ? "hours" : "pods",
                 csv_field(step.quota), csv_field(step.gpu_type), step.guaranteed, step.used,
                 step.borrowed, step.lent, step.pending);
    }
  }
}

}  // namespace bench::replay
