// report.html: the results of a replay as one self-contained page.
#pragma once

#include "bench/replay/report/published.h"
#include "bench/replay/result.h"
#include "bench/replay/trace/trace.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::replay {

struct Report {
  std::string title;
  std::string command;                 // the command line that made it
  const std::vector<Trace>& traces;    // those of the results, for node names and counts
  const std::vector<Result>& results;  // every policy × seed (× trace) that finished
  bool interrupted = false;            // some runs are missing
};

// No network, light and dark, readable at 360 pixels and on a desktop.
void write_report(std::ostream& out, const Report& report);

}  // namespace bench::replay
