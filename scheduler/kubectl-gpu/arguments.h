// The command line of kubectl gpu.
#pragma once

#include "scheduler/kubectl-gpu/options.h"

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace sched::kubectl {

// Reads `arguments`, which are without the program's name, into `options`. If it has said all that
// was asked for (help, or the version) or what is wrong, it returns the exit code.
[[nodiscard]] std::optional<int> read_arguments(const std::vector<std::string>& arguments,
                                                std::string_view version, std::ostream& out,
                                                std::ostream& err, Options& options);

}  // namespace sched::kubectl
