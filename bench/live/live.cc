#include "bench/live/live.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ostream>
#include <system_error>
#include <utility>

namespace bench::live {

namespace {

// The harness's own name in its help and its errors.
constexpr const char* kName = "bench live";

// The only exit code of this part of the command: the harness could not be started.
constexpr int kNoHarness = 2;

bool names_a_scheduler(const std::string& argument) {
  for (const std::string flag : {"--gpu-scheduler", "-gpu-scheduler"}) {
    if (argument == flag || argument.rfind(flag + "=", 0) == 0) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> command_line(const std::filesystem::path& self,
                                      const std::vector<std::string>& arguments) {
  const std::filesystem::path bin = self.parent_path();
  const std::filesystem::path build = bin.parent_path().parent_path();
  std::vector<std::string> line{(build / "cluster" / "bin" / "compare").string()};
  line.insert(line.end(), arguments.begin(), arguments.end());
  if (std::none_of(arguments.begin(), arguments.end(), names_a_scheduler)) {
    line.emplace_back("--gpu-scheduler");
    line.push_back((bin / "gpu-scheduler").string());
  }
  return line;
}

int run(const std::vector<std::string>& arguments, std::ostream& errors) {
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) {
    errors << kName << ": /proc/self/exe: " << failure.message() << '\n';
    return kNoHarness;
  }
  std::vector<std::string> line = command_line(self, arguments);
  const std::string harness = std::exchange(line[0], kName);
  std::vector<char*> pointers;
  for (std::string& word : line) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(harness.c_str(), pointers.data());
  errors << kName << ": " << harness << ": " << std::generic_category().message(errno)
         << "; run tests/cluster/build.sh first\n";
  return kNoHarness;
}

}  // namespace bench::live
