// `bench replay --share INDEX/COUNT --out DIR`: a part of a study's runs, each written when it has
// ended (share_folder.h). What an earlier process has made is not made again: a share that was
// killed is continued by the same command.
#pragma once

#include "bench/replay/shares/share.h"
#include "bench/replay/study.h"

#include <atomic>

namespace bench::replay {

// The exit code: kDone if the share is complete, or if `stop` ended it, with a note.
[[nodiscard]] int make_share(const Study& study, Share share, const ReplayOptions& options,
                             Terminal terminal, const std::atomic<bool>& stop);

}  // namespace bench::replay
