// Files for their owner alone: recordings show every pod of the cluster.
#pragma once

#include <cstdio>
#include <string>

namespace sched::live {

// Creates `file`, or empties it, with the mode 0600 also where it was there before with another.
// Null: errno says why.
[[nodiscard]] std::FILE* open_private(const std::string& file);

}  // namespace sched::live
