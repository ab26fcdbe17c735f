// Files for their owner alone: recordings show every pod of the cluster.
#pragma once

#include <cstdio>
#include <string>

namespace sched::live {

// Creates `file`, or empties an existing one. It has the mode 0600 then, also if it had another one
// before. Null: it failed, and errno says why.
[[nodiscard]] std::FILE* open_private(const std::string& file);

}  // namespace sched::live
