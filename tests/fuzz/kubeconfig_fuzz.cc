#include "k8s-client/auth/cluster_access.h"
#include "tests/fuzz/fuzz_target.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

// A file of this process, gone when it ends.
class ScratchFile {
 public:
  ScratchFile()
      : path_(std::filesystem::temp_directory_path() /
              ("kubeconfig-fuzz-" + std::to_string(getpid()))) {}
  ~ScratchFile() { std::filesystem::remove(path_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void write(std::string_view text) const { std::ofstream(path_, std::ios::binary) << text; }
  [[nodiscard]] std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  static const ScratchFile file;
  file.write(fuzz::as_text(data, size));
  const auto access = k8s::load_kubeconfig(file.name());
  if (access) {
    fuzz::require(access->credentials != nullptr, "access comes with credentials");
    fuzz::require(!access->endpoint.host.empty(), "access has a host");
  } else {
    fuzz::require(access.error().message.find(file.name()) != std::string::npos,
                  "an error names the file");
  }
}
