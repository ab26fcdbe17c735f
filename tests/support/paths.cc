#include "tests/support/paths.h"

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace tests {
namespace {

class Scratch {
 public:
  Scratch() : path_(TEST_BINARY_DIR "/scratch-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string source_dir() { return TEST_SOURCE_DIR; }

std::string scratch_dir() {
  static const Scratch scratch;
  return scratch.path();
}

}  // namespace tests
