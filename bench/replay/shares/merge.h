// `bench replay --merge DIR…`: the table, the files and the exit code of a study whose runs were
// made in shares. They are what one process that makes all runs would have left; the seconds are
// those that the runs took.
#pragma once

#include "bench/replay/replay.h"
#include "bench/replay/study.h"

#include <string>
#include <vector>

namespace bench::replay {

// Of `options` only fail_if, format and out count. Nothing is written unless every run is there, of
// one study, and of this version. The folders are only read.
[[nodiscard]] int merge(const std::vector<std::string>& folders, const ReplayOptions& options,
                        Terminal terminal);

}  // namespace bench::replay
