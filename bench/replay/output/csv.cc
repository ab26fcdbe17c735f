#include "bench/replay/output/csv.h"

#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <ostream>
#include <string>
#include <string_view>

namespace bench::replay {
namespace {

// Names come from files, and are quoted by RFC 4180 if needed.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

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
