#include "bench/replay/shares/share_folder.h"

#include "bench/replay/output/output_file.h"
#include "bench/replay/trace/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace bench::replay {
namespace {

namespace fs = std::filesystem;

k8s::Result<void> write_whole(const std::string& path, const std::string& text) {
  auto file = OutputFile::create(path);
  if (!file) return tl::unexpected<k8s::Error>(std::move(file.error()));
  file->stream() << text;
  return file->keep();
}

// What `decode` makes of the file's text.
template <typename Decode>
auto read_whole(const std::string& file, Decode&& decode) -> decltype(decode(std::string())) {
  auto text = read_text_file(file);
  if (!text) return tl::unexpected<k8s::Error>(std::move(text.error()));
  auto read = decode(text->text);
  if (!read) return tl::unexpected(k8s::with_context(std::move(read.error()), file));
  return read;
}

}  // namespace

k8s::Result<void> ShareFolder::begin(const StoredShare& share) const {
  std::error_code error;
  fs::create_directories(name_, error);
  if (error) return k8s::config_error(fmt::format("--out {}: {}", name_, error.message()));
  const auto present = share_files();
  if (!present) return tl::unexpected<k8s::Error>(present.error());
  const std::string own =
      fmt::format("{}/share-{}-of-{}.json", name_, share.share.index, share.share.count);
  bool is_there = false;
  for (const std::string& file : *present) {
    const auto other = read_share(file);
    if (!other) continue;  // cut off: its own share writes it again
    if (const auto words = other->study.difference_to(share.study); !words.empty()) {
      return k8s::config_error(
          fmt::format("--out {}: has a share of another study ({} is of {}); name another folder",
                      name_, fs::path(file).filename().string(), words));
    }
    is_there = is_there || file == own;
  }
  if (is_there) return {};
  return write_whole(own, share_as_json(share));
}

k8s::Result<bool> ShareFolder::has(std::size_t run, const std::string& study) const {
  const auto stored = read_run(run_file(run));
  if (!stored) return false;  // absent, or cut off: it is made again
  if (stored->study == study && stored->run == run) return true;
  return k8s::config_error(fmt::format(
      "--out {}: {} is a run of another study; name another folder", name_, run_file(run)));
}

k8s::Result<void> ShareFolder::write(std::size_t run, const std::string& study,
                                     const Result& result) const {
  return write_whole(run_file(run), run_as_json(study, run, result));
}

k8s::Result<StoredShare> ShareFolder::read_share(const std::string& file) {
  return read_whole(file, share_of_json);
}

k8s::Result<StoredRun> ShareFolder::read_run(const std::string& file) {
  return read_whole(file, run_of_json);
}

std::string ShareFolder::run_file(std::size_t run) const {
  return fmt::format("{}/run-{}.json", name_, run);
}

k8s::Result<std::vector<std::string>> ShareFolder::files(std::string_view prefix) const {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(name_, error)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".json" && path.filename().string().rfind(prefix, 0) == 0) {
      found.push_back(path.string());
    }
  }
  if (error) return k8s::config_error(fmt::format("{}: {}", name_, error.message()));
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace bench::replay
