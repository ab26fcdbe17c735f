// The result of a run as JSON, for the files of shares: what is read is what was written, to the
// last bit of every figure.
#pragma once

#include "bench/replay/result.h"
#include "k8s-client/error.h"

#include <string>
#include <string_view>

namespace bench::replay {

// One line. `study` is the digest of the run's study, `run` its number there.
[[nodiscard]] std::string run_as_json(const std::string& study, std::size_t run,
                                      const Result& result);

struct StoredRun {
  std::string study;
  std::size_t run = 0;
  Result result;
};
// The error says that the text is not a whole run.
[[nodiscard]] k8s::Result<StoredRun> run_of_json(std::string_view text);

}  // namespace bench::replay
