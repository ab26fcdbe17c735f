#include "tests/support/paths.h"

namespace tests {

std::string source_dir() { return TEST_SOURCE_DIR; }
std::string binary_dir() { return TEST_BINARY_DIR; }

}  // namespace tests
