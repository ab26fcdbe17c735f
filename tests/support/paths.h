// Where the project's files are, and where a test may write.
#pragma once

#include <string>

namespace tests {

// The project's top folder.
[[nodiscard]] std::string source_dir();
// The build's top folder.
[[nodiscard]] std::string binary_dir();

}  // namespace tests
