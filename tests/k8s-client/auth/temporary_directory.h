// A directory of files that goes away with the test.
#pragma once

#include "k8s-client/auth/watched_file.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace tests {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  // Writes the file, and its directories; returns its path.
  std::string write(const std::string& name, const std::string& content) const;
  void remove(const std::string& name) const { std::filesystem::remove_all(path_ / name); }
  [[nodiscard]] std::string path(const std::string& name = "") const {
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

// Time that passes when the test says so.
class ManualTime {
 public:
  [[nodiscard]] k8s::auth::Now now() {
    return [this] { return at_; };
  }
  void pass(std::chrono::seconds time) { at_ += time; }

 private:
  std::chrono::steady_clock::time_point at_{std::chrono::hours(1)};
};

}  // namespace tests
