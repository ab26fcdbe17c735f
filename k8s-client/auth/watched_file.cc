#include "k8s-client/auth/watched_file.h"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

namespace k8s::auth {
namespace {

constexpr std::size_t kLargest = 1024 * 1024;

tl::unexpected<Error> unreadable(const std::string& path, int code) {
  return config_error("cannot read \"" + path + "\": " + std::generic_category().message(code));
}

}  // namespace

Result<std::string> read_small_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return unreadable(path, errno);
  std::string content(kLargest + 1, '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (in.bad() || errno == EISDIR) return unreadable(path, errno);
  content.resize(static_cast<std::size_t>(in.gcount()));
  if (content.size() > kLargest) return config_error("\"" + path + "\" is larger than 1 MiB");
  if (content.empty()) return config_error("\"" + path + "\" is empty");
  content.shrink_to_fit();
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
