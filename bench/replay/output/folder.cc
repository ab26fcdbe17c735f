#include "bench/replay/output/folder.h"

#include "bench/replay/output/csv.h"
#include "bench/replay/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>
#include <utility>

namespace bench::replay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kParts = ".decisions";

// The number of a run's part: ".decisions.12" → 12.
std::size_t number_of(const std::string& path) {
  const std::string text = fs::path(path).extension().string();
  std::size_t number = 0;
  if (!text.empty()) std::from_chars(text.data() + 1, text.data() + text.size(), number);
  return number;
}

k8s::Result<void> write_file(const std::string& path,
                             const std::function<void(std::ostream&)>& write) {
  auto file = OutputFile::create(path);
  if (!file) return tl::unexpected<k8s::Error>(std::move(file.error()));
  write(file->stream());
  return file->keep();
}

void append(const std::string& file, std::ostream& out) {
  std::ifstream in(file, std::ios::binary);
  // To copy nothing would count as a failure of `out`.
  if (in.peek() != std::ifstream::traits_type::eof()) out << in.rdbuf();
}

}  // namespace

k8s::Result<OutputFolder> OutputFolder::open(const std::string& name) {
  OutputFolder folder(name);
  if (name.empty()) return folder;
  std::error_code error;
  fs::create_directories(name, error);
  if (error) return k8s::config_error(fmt::format("--out {}: {}", name, error.message()));
  folder.remove_parts();  // of a process that was killed
  // Better an error now than after all the work; the test file is removed.
  if (const auto probe = OutputFile::create(folder.path(".probe")); !probe) {
    return k8s::config_error(fmt::format("--out {}: no file can be made in it", name));
  }
  return folder;
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept : name_(std::exchange(other.name_, {})) {}

OutputFolder::~OutputFolder() { remove_parts(); }

void OutputFolder::remove_parts() const {
  std::error_code ignored;
  for (const std::string& part : parts()) fs::remove(part, ignored);
}

k8s::Result<OutputFile> OutputFolder::decisions_of(std::size_t index) const {
  return OutputFile::create(path(fmt::format("{}.{}", kParts, index)));
}

std::vector<std::string> OutputFolder::parts() const {
  std::vector<std::string> parts;
  if (name_.empty()) return parts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(name_, error)) {
    const fs::path& file = entry.path();
    if (file.stem() == kParts) parts.push_back(file.string());
  }
  std::sort(parts.begin(), parts.end(),
            [](const std::string& a, const std::string& b) { return number_of(a) < number_of(b); });
  return parts;
}

k8s::Result<std::vector<std::string>> OutputFolder::write(const Summary& summary,
                                                          const std::string& command_line) {
  std::vector<std::string> written;
  if (name_.empty()) return written;
  std::vector<std::pair<std::string, std::function<void(std::ostream&)>>> files{
      {"summary.json", [&](std::ostream& out) { write_summary(out, summary); }},
      {"steps.csv", [&](std::ostream& out) { write_steps_csv(out, summary.results); }},
      {"report.html", [&](std::ostream& out) {
         write_report(out, {.title = "Replay",
                            .command = command_line,
                            .traces = summary.traces,
                            .results = summary.results,
                            .interrupted = summary.interrupted});
       }}};
  // Files of an earlier replay do not belong to the present ones.
  std::error_code ignored;
  const bool has_quotas = std::any_of(summary.results.begin(), summary.results.end(),
                                      [](const Result& run) { return !run.quota_steps.empty(); });
  if (has_quotas) {
    files.emplace_back("quotas.csv",
                       [&](std::ostream& out) { write_quotas_csv(out, summary.results); });
  } else {
    fs::remove(path("quotas.csv"), ignored);
  }
  const std::vector<std::string> decisions = parts();
  if (decisions.empty()) {
    fs::remove(path("decisions.jsonl"), ignored);
  } else {
    files.emplace_back("decisions.jsonl", [&](std::ostream& out) {
      for (const std::string& part : decisions) append(part, out);
    });
  }
  for (const auto& [name, write] : files) {
    if (auto done = write_file(path(name), write); !done) {
      return tl::unexpected<k8s::Error>(std::move(done.error()));
    }
    written.push_back(path(name));
  }
  return written;
}

}  // namespace bench::replay
