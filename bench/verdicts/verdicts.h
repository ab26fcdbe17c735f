// bench verdicts: the engine's answers to the cases in files, and their differences from
// kube-scheduler's.
//
// Reads cases (case.h) from .jsonl and .jsonl.gz files. For people it prints tables (show.h), for
// programs one JSON object a line,
//   {"id": …, "verdicts": {node: {"code", "plugin", "reasons"}}, "message": …,
//    "scores": {node: {plugin: {"normalized", "weighted"}}}}
// and, where cases come with answers, a closing line
//   {"agree": 1247, "differ": 0, "leftOut": 1003, "missingPlugins": ["InterPodAffinity", …]}
// Not compared are cases with answers that have verdicts of plugins that are not built here
// (judge.h); the line names these plugins. Beside JSON, differences are text on the error stream.
#pragma once

#include "bench/output.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::verdicts {

struct Options {
  std::vector<std::string> files;
  bool quiet = false;   // only differences and the closing line
  bool scores = false;  // scores, too; they are compared if a case has them
  Output output = Output::kJson;
};

// 0: no difference; 1: some; 2: a file cannot be read, or a line is not a case (said as FILE:LINE).
[[nodiscard]] int run(const Options& options, std::ostream& out, std::ostream& err);

}  // namespace bench::verdicts
