// Where the project's files are, and where a test may write.
#pragma once

#include <string>

namespace tests {

// The project's top folder.
[[nodiscard]] std::string source_dir();
// A folder for what a test writes. It is of this process alone, so that several may run at once,
// and goes when the process ends.
[[nodiscard]] std::string scratch_dir();

}  // namespace tests
