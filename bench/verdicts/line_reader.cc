#include "bench/verdicts/line_reader.h"

#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace bench::verdicts {

namespace {

constexpr std::size_t kLongestLine = 256UL * 1024 * 1024;

}  // namespace

struct LineReader::File {
  gzFile handle = nullptr;

  explicit File(gzFile opened) : handle(opened) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { gzclose(handle); }

  // The error of the last call, as text; empty: none.
  [[nodiscard]] std::string problem() const {
    int code = Z_OK;
    const char* text = gzerror(handle, &code);
    if (code == Z_OK || code == Z_STREAM_END) return "";
    return code == Z_ERRNO ? std::strerror(errno) : text;
  }
};

LineReader::LineReader(std::string path, std::unique_ptr<File> file)
    : path_(std::move(path)), file_(std::move(file)) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

k8s::Result<LineReader> LineReader::open(const std::string& path) {
  errno = 0;
  gzFile handle = gzopen(path.c_str(), "rb");
  if (handle == nullptr) {
    return k8s::config_error(path + ": cannot open: " + std::strerror(errno));
  }
  gzbuffer(handle, 1U << 18U);
  return LineReader(path, std::make_unique<File>(handle));
}

k8s::Result<std::optional<std::string>> LineReader::next() {
  ++line_;
  std::string line;
  std::array<char, 1U << 14U> piece{};
  while (gzgets(file_->handle, piece.data(), static_cast<int>(piece.size())) != nullptr) {
    line += piece.data();
    if (line.ends_with('\n')) {
      line.pop_back();
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (line.size() > kLongestLine) return k8s::config_error(place() + ": line is too long");
  }
  // gzgets returns nullptr both at the end and on failure; a directory fails here, not when opened.
  if (const std::string problem = file_->problem(); !problem.empty()) {
    return k8s::config_error(place() + ": cannot read: " + problem);
  }
  if (line.empty()) return std::optional<std::string>();
  return line;
}

std::string LineReader::place() const { return path_ + ":" + std::to_string(line_); }

}  // namespace bench::verdicts
