#include "scheduler/live/record/recording_files.h"

#include "scheduler/live/record/private_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace sched::live {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNameBegin = "gpu-scheduler-";
constexpr std::string_view kNameEnd = ".jsonl.gz";

k8s::Error failure(const std::string& file, const char* why) {
  return {.kind = k8s::ErrorKind::kConfig, .message = fmt::format("{}: {}", file, why)};
}

bool write_all(std::FILE* to, const RecordingParts& parts) {
  for (const auto& part : parts) {
    if (std::fwrite(part->data(), 1, part->size(), to) != part->size()) return false;
  }
  return std::fflush(to) == 0;
}

// Exactly the name that write() gives: a file that somebody has renamed is kept on purpose.
bool is_ours(const fs::directory_entry& entry) {
  constexpr std::string_view kStamp = "00000000T000000Z";  // "0": any digit
  const std::string name = entry.path().filename().string();
  if (!name.starts_with(kNameBegin) || !name.ends_with(kNameEnd)) return false;
  if (name.size() != kNameBegin.size() + kStamp.size() + kNameEnd.size()) return false;
  return std::equal(
      kStamp.begin(), kStamp.end(), name.begin() + kNameBegin.size(),
      [](char form, char c) { return form == '0' ? c >= '0' && c <= '9' : c == form; });
}

}  // namespace

k8s::Result<RecordingFiles> RecordingFiles::in(std::string folder) {
  std::error_code unknown;
  if (!fs::is_directory(folder, unknown)) {
    return tl::unexpected(failure(folder, "is no folder"));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return tl::unexpected(failure(folder, std::strerror(errno)));
  }
  return RecordingFiles(std::move(folder));
}

k8s::Result<std::string> RecordingFiles::write(const RecordingParts& parts, Time now) const {
  const std::string stamp =
      fmt::format("{:%Y%m%dT%H%M%SZ}", std::chrono::floor<std::chrono::seconds>(now));
  const std::string file =
      (fs::path(folder_) / fmt::format("{}{}{}", kNameBegin, stamp, kNameEnd)).string();
  const std::string unfinished = file + ".part";
  // An existing file of that name may be a link to another file, which must not be overwritten.
  std::remove(unfinished.c_str());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(open_private(unfinished),
                                                               std::fclose);
  if (opened == nullptr) return tl::unexpected(failure(unfinished, std::strerror(errno)));
  if (!write_all(opened.get(), parts) || std::rename(unfinished.c_str(), file.c_str()) != 0) {
    const auto why = failure(file, std::strerror(errno));
    std::remove(unfinished.c_str());
    return tl::unexpected(why);
  }
  remove_oldest_beside(file);
  return file;
}

void RecordingFiles::remove_oldest_beside(const std::string& newest) const {
  std::vector<fs::path> others;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (is_ours(entry) && entry.path() != newest) others.push_back(entry.path());
  }
  std::sort(others.begin(), others.end());  // by time, as their names are
  for (std::size_t i = 0; i + kMostFiles <= others.size(); ++i) fs::remove(others[i], error);
}

}  // namespace sched::live
