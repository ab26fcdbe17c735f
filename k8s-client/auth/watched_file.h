// A small file whose content may change while we run: a projected token, a rotated certificate.
//
// It is read again when it is asked for and a minute has passed, and compared by content: kubelet
// swaps symlinks, so that time stamps tell nothing. A file that cannot be read for a moment (it is
// just being replaced) does no harm, the last content stays in use. Time comes from outside.
#pragma once

#include "k8s-client/error.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace k8s::auth {

using Now = std::function<std::chrono::steady_clock::time_point()>;

// Kubelet replaces a token when four fifths of its life have passed; the shortest life is ten
// minutes. Upstream's client re-reads every minute too.
inline constexpr std::chrono::seconds kRereadInterval{60};

// Reads the whole content. Empty: done; otherwise why it could not, without the file's name: what
// stands where a file's name should may be a credential.
[[nodiscard]] std::string read_small_file(const std::string& path, std::string& content);

// The whole content. kConfig, naming the file, if it cannot be read, is empty or larger than 1 MiB.
[[nodiscard]] Result<std::string> read_small_file(const std::string& path);

class WatchedFile {
 public:
  WatchedFile(std::string path, Now now) : path_(std::move(path)), now_(std::move(now)) {}

  // The content: as of at most kRereadInterval ago, or the last that could be read. An error only
  // if none could ever be read, or not since forget(). Valid until the next call.
  [[nodiscard]] Result<const std::string*> get();

  // Makes the next get() read; what there is stays in use if that fails.
  void recheck() { read_at_.reset(); }
  // Makes the next get() read, and fail if that fails: what there was is known to be of no use.
  void forget();

 private:
  std::string path_;
  Now now_;
  std::optional<std::string> content_;
  std::optional<std::chrono::steady_clock::time_point> read_at_;
};

}  // namespace k8s::auth
