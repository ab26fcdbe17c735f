// A small file with content that may change at run time: a projected token, a rotated certificate.
//
// It is read again if it is requested and a minute has passed, and compared by content: kubelet
// swaps symlinks, so time stamps do not show a change. If a file cannot be read for a moment (it is
// being replaced), the last content stays in use. Time is an argument.
#pragma once

#include "k8s-client/error.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace k8s::auth {

using Now = std::function<std::chrono::steady_clock::time_point()>;

// Kubelet replaces a token when four fifths of its life have passed; the shortest life is ten
// minutes. Upstream's client also re-reads every minute.
inline constexpr std::chrono::seconds kRereadInterval{60};

// Reads the whole content. Empty: done; otherwise why it could not be read, without the file's
// name, because the setting for the name may contain a credential.
[[nodiscard]] std::string read_small_file(const std::string& path, std::string& content);

// The whole content. kConfig, naming the file, if it cannot be read, is empty or larger than 1 MiB.
[[nodiscard]] Result<std::string> read_small_file(const std::string& path);

class WatchedFile {
 public:
  WatchedFile(std::string path, Now now) : path_(std::move(path)), now_(std::move(now)) {}

  // The content: at most kRereadInterval old, or the last that could be read. An error only if none
  // could ever be read, or none since forget(). Valid until the next call.
  [[nodiscard]] Result<const std::string*> get();

  // Makes the next get() read the file; if that fails, the present content stays in use.
  void recheck() { read_at_.reset(); }
  // Makes the next get() read the file, and fail if that fails: the present content is known to be
  // useless.
  void forget();

 private:
  std::string path_;
  Now now_;
  std::optional<std::string> content_;
  std::optional<std::chrono::steady_clock::time_point> read_at_;
};

}  // namespace k8s::auth
