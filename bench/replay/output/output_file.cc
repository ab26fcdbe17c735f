#include "bench/replay/output/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace bench::replay {

k8s::Result<OutputFile> OutputFile::create(const std::string& path) {
  std::string draft = path + ".part";
  std::ofstream stream(draft, std::ios::binary | std::ios::trunc);
  if (!stream) {
    return k8s::config_error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  return OutputFile(path, std::move(draft), std::move(stream));
}

OutputFile::OutputFile(std::string path, std::string draft, std::ofstream stream)
    : path_(std::move(path)), draft_(std::move(draft)), stream_(std::move(stream)) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      draft_(std::exchange(other.draft_, {})),
      stream_(std::move(other.stream_)) {}

OutputFile::~OutputFile() {
  if (!draft_.empty()) std::remove(draft_.c_str());
}

k8s::Result<void> OutputFile::keep() {
  stream_.close();
  if (!stream_ || std::rename(draft_.c_str(), path_.c_str()) != 0) {
    return k8s::config_error(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }
  draft_.clear();
  return {};
}

}  // namespace bench::replay
