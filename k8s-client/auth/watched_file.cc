#include "k8s-client/auth/watched_file.h"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

namespace k8s::auth {
namespace {

constexpr std::size_t kLargest = 1024 * 1024;

std::string text_of(int code) { return std::generic_category().message(code); }

}  // namespace

std::string read_small_file(const std::string& path, std::string& content) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return text_of(errno);
  content.resize(kLargest + 1);
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (in.bad() || errno == EISDIR) return text_of(errno);
  content.resize(static_cast<std::size_t>(in.gcount()));
  if (content.size() > kLargest) return "it is larger than 1 MiB";
  if (content.empty()) return "it is empty";
  content.shrink_to_fit();
  return "";
}

Result<std::string> read_small_file(const std::string& path) {
  std::string content;
  const std::string why = read_small_file(path, content);
  if (!why.empty()) return config_error("cannot read \"" + path + "\": " + why);
  return content;
}

Result<const std::string*> WatchedFile::get() {
  const auto now = now_();
  if (content_ && read_at_ && now - *read_at_ < kRereadInterval) return &*content_;
  auto content = read_small_file(path_);
  if (!content && !content_) return tl::unexpected<Error>(std::move(content.error()));
  if (content) content_ = std::move(*content);
  read_at_ = now;
  return &*content_;
}

void WatchedFile::forget() {
  content_.reset();
  read_at_.reset();
}

}  // namespace k8s::auth
