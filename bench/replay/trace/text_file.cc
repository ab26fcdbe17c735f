#include "bench/replay/trace/text_file.h"

#include <simdjson.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace bench::replay {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};
using GzipFile = std::unique_ptr<gzFile_s, CloseGzip>;

// The error of the last call, as text; empty: none.
std::string problem_of(gzFile file) {
  int code = Z_OK;
  const char* text = gzerror(file, &code);
  if (code == Z_OK || code == Z_STREAM_END) return "";
  return code == Z_ERRNO ? std::strerror(errno) : text;
}

k8s::Result<std::string> read_bytes(const std::string& path) {
  errno = 0;
  const GzipFile file(gzopen(path.c_str(), "rb"));
  if (!file) return k8s::config_error(path + ": cannot open: " + std::strerror(errno));
  std::string bytes;
  std::array<char, 1U << 16U> piece{};
  int got = 0;
  while ((got = gzread(file.get(), piece.data(), piece.size())) > 0) {
    bytes.append(piece.data(), static_cast<std::size_t>(got));
  }
  // A directory opens and fails here; a truncated gzip stream is a short read and an error.
  const std::string problem = problem_of(file.get());
  if (!problem.empty()) return k8s::config_error(path + ": cannot read: " + problem);
  return bytes;
}

}  // namespace

k8s::Result<TextFile> as_text_file(const std::string& path, std::string bytes) {
  if (bytes.starts_with(kByteOrderMark)) bytes.erase(0, kByteOrderMark.size());
  if (!simdjson::validate_utf8(bytes)) {
    return k8s::decode_error(path + ": is not UTF-8 text; save it as UTF-8");
  }
  return TextFile{.path = path, .text = std::move(bytes)};
}

k8s::Result<TextFile> read_text_file(const std::string& path) {
  auto bytes = read_bytes(path);
  if (!bytes) return tl::unexpected(bytes.error());
  return as_text_file(path, std::move(*bytes));
}

std::string stem_of(std::string_view path) {
  if (const auto slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (const auto dot = path.rfind('.'); dot != path.npos && dot > 0) path = path.substr(0, dot);
  return std::string(path);
}

}  // namespace bench::replay
